import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { repository } from '../support/process.ts'

it('The benchmark of growth measures every read operation of both surfaces and of the web app', async () => {
  const { allReads } = (await import(pathToFileURL(join(repository, 'bench/read-operations.mjs')).href)) as {
    allReads: () => { label: string }[]
  }
  expect(allReads().length).toBeGreaterThan(60)
})
