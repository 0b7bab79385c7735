import { expect, it } from 'vitest'
import { runImport } from '../../src/bulk/import-runner.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { useApp } from '../support/app.ts'
import { ImportRun } from '../support/imports.ts'

const singleServerReason = 'the test runs the import itself'
const context = useApp({ singleServerReason })

it.each([
  ['a check', false, [4]],
  ['a run, which writes the levels of the tree one after the other,', true, [2, 2, 3, 4]],
])('%s of locations reports how many rows it has done', async (_job, isRun, expected) => {
  const org = await context.app.newOrg()
  const { orgId } = org
  const { accessToken } = await org.signIn('admin')
  const run = await new ImportRun(context.app, accessToken).open('locations')
  await run.rows([
    { external_key: 'SHELF', name: 'Shelf', parent_external_key: 'AISLE' },
    { external_key: 'AISLE', name: 'Aisle', parent_external_key: 'HALL' },
    { external_key: 'HALL', name: 'Hall' },
    { external_key: 'YARD' },
  ])
  const { db, ids } = context.app.context
  const pool = isRun ? { records: await ids.nextMany(orgId, 3), tags: [] } : null
  const done: number[] = []
  const work = { orgId, importId: run.id, clock: systemClock, mode: 'upsert' as const, room: { left: 9, limit: 9 } }
  const result = await db.withTenant(orgId, (tx) =>
    runImport('locations', { tx, ...work, ids: pool, progress: (rows) => done.push(rows) }),
  )
  expect(result).toMatchObject({ creates: 3, errorsTotal: 1 })
  expect(done).toEqual(expected)
})
