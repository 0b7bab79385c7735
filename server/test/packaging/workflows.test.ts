import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { repository } from '../support/process.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')

interface Job {
  strategy?: { matrix: { node: string[] } }
  steps: { run?: string; uses?: string; with?: Record<string, string> }[]
}

const jobOf = (file: string, name: string): Job =>
  (parse(read(`.github/workflows/${file}`)) as { jobs: Record<string, Job> }).jobs[name]!

const oldest = /(\d+\.\d+)/.exec((JSON.parse(read('package.json')) as { engines: { node: string } }).engines.node)![1]!
const ofImage = /^ARG NODE_IMAGE=\S+\/node:(\d+)\.[\d.]+-/m.exec(read('Dockerfile'))![1]!

describe('The workflows', () => {
  it('run every test at night on the oldest Node.js supported and on that of the image', () => {
    const { strategy, steps } = jobOf('nightly.yml', 'all')
    expect(strategy!.matrix.node).toEqual([oldest, ofImage])
    expect(steps.at(-1)!.run).toBe('.ci/run test:all')
  })

  it('run the tests of every change on the oldest Node.js supported', () => {
    const { steps } = jobOf('test.yml', 'test')
    expect(steps.find(({ uses }) => uses?.includes('setup-node'))!.with!['node-version']).toBe(oldest)
    expect(steps.at(-1)!.run).toBe('.ci/run')
  })
})
