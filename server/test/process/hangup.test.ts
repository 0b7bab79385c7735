import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type LaunchOptions,
  cleanEnvironment,
  databaseOf,
  lastseen,
  newFolder,
  repository,
  serve,
  serveOnTerminal,
  waitForExit,
  usePrograms,
} from '../support/process.ts'

usePrograms()

const dataDir = newFolder()
const settings = { LASTSEEN_DATA_DIR: dataDir }

beforeAll(async () => {
  expect((await lastseen(['migrate', '--init'], settings)).code).toBe(0)
}, 120_000)

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
const familyOf = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(familyOf)]

async function expectNothingLeft(processes: readonly number[], postgres: number): Promise<void> {
  for (const pid of [...processes, postgres]) await waitForExit(pid)
  expect(await databaseOf(dataDir)).toBeUndefined()
}

const starts: [string, LaunchOptions][] = [
  ['one process', { args: ['serve'] }],
  ['two workers', { args: ['serve', '--workers', '2'] }],
  ['npm start', { command: ['npm', 'start'] }],
  ['npm start with two workers', { command: ['npm', 'start', '--', '--workers', '2'] }],
]

describe('a server whose terminal is closed', { timeout: 120_000 }, () => {
  it.each(starts)('stops cleanly with its database: %s', async (_what, options) => {
    const server = await serve(settings, { ...options, isGroup: true })
    const { pid } = (await databaseOf(dataDir))!
    const processes = familyOf(server.program.pid)
    // The kernel sends the signal to every process of the terminal.
    process.kill(-server.program.pid, 'SIGHUP')
    await server.program.says(/^Stopped\.$/m)
    await expectNothingLeft(processes, pid)
  })

  it('stops although every further log line fails, as on a closed terminal', async () => {
    const { program } = await serveOnTerminal(settings, '--workers', '2')
    const { pid } = (await databaseOf(dataDir))!
    const processes = familyOf(program.pid)
    expect(processes.length).toBeGreaterThan(2)
    // The terminal closes when the program that owns it exits.
    program.child.kill('SIGKILL')
    await expectNothingLeft(processes, pid)
  })
})

describe('a server whose standard output has no reader any more', { timeout: 120_000 }, () => {
  it.each(starts)('stops cleanly with its database: %s', async (_what, options) => {
    const server = await serve(settings, { ...options, isGroup: true })
    const { pid } = (await databaseOf(dataDir))!
    const processes = familyOf(server.program.pid)
    server.program.child.stdout!.destroy()
    expect((await server.send('GET', '/healthz')).status).toBe(200)
    await server.program.says(/^Stopped\.$/m)
    await expectNothingLeft(processes, pid)
  })

  it('stops cleanly when standard error is closed as well', async () => {
    const server = await serve(settings)
    const { pid } = (await databaseOf(dataDir))!
    server.program.child.stdout!.destroy()
    server.program.child.stderr!.destroy()
    await server.send('GET', '/healthz')
    await expectNothingLeft([server.program.pid], pid)
    await expect.poll(() => server.program.child.exitCode).toBe(0)
  })
})

describe('an operator command whose output is cut short', { timeout: 120_000 }, () => {
  it('exits without an error', async () => {
    const entry = `${repository}server/bin/lastseen.mjs`
    const line = `${process.execPath} ${entry} org list --json | true`
    const child = spawn('bash', ['-o', 'pipefail', '-c', line], { env: cleanEnvironment(settings), stdio: 'pipe' })
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
    expect(output).toBe('')
    expect(await databaseOf(dataDir)).toBeUndefined()
  })
})
