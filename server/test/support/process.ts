import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, inject } from 'vitest'
import { isAlive } from '../../src/embedded-postgres/file-lock.ts'
import { readPostmaster } from '../../src/embedded-postgres/postmaster.ts'
import { type Reply, type SendOptions, send } from './client.ts'
import { freePort } from './free-port.ts'

export const repository = fileURLToPath(new URL('../../..', import.meta.url))
const entry = join(repository, 'server/bin/lastseen.mjs')

export type Environment = Record<string, string | undefined>

export interface ExitResult {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** The environment of a shell without variables that would change the program's behaviour. */
export function cleanEnvironment(settings: Environment): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(LASTSEEN_|TEST_|VITEST|NODE_OPTIONS|NODE_ENV|DATABASE_URL|PORT$|npm_)/.test(name),
  )
  // Tests run in parallel, and there is only one port 1883.
  return { ...Object.fromEntries(kept), LASTSEEN_MQTT_PORT: '0', ...settings }
}

const programs: Program[] = []
const dataDirs: string[] = []

/** A child process of the test, with its output so far. */
export class Program {
  readonly child: ChildProcess
  readonly ended: Promise<ExitResult>
  readonly startedAt = performance.now()
  stdout = ''
  stderr = ''
  readonly #isGroup: boolean

  constructor(child: ChildProcess, isGroup: boolean) {
    this.child = child
    this.#isGroup = isGroup
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.ended = new Promise((resolve) => {
      child.on('close', (code, signal) => resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }))
    })
    programs.push(this)
  }

  get pid(): number {
    return this.child.pid!
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null
  }

  /** Waits until standard error contains the text, and returns the match. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const hasEnded = !this.isRunning
      if (hasEnded) await this.ended
      const match = pattern.exec(this.stderr)
      if (match !== null) return match
      if (hasEnded) throw new Error(`The program ended without saying ${pattern.source}:\n${this.stderr}`)
      await sleep(10)
    }
  }

  /** Signals the program and, if it has its own, its whole process group, as a terminal does. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<ExitResult> {
    if (this.isRunning) process.kill(this.#isGroup ? -this.pid : this.pid, signal)
    return this.ended
  }
}

/** A server that has reported that it is ready. */
export interface ReadyServer {
  program: Program
  url: string
  readyMs: number
  send(method: string, path: string, options?: SendOptions): Promise<Reply>
}

export interface LaunchOptions {
  args?: string[]
  /** The command to run instead of the program, with the arguments that follow it. */
  command?: [string, ...string[]]
  /** Whether the program gets its own process group, as on a terminal. */
  isGroup?: boolean
  cwd?: string
  uid?: number
}

export function launch(settings: Environment, options: LaunchOptions = {}): Program {
  const [file, ...first] = options.command ?? [process.execPath, entry]
  const child = spawn(file, [...first, ...(options.args ?? [])], {
    cwd: options.cwd ?? repository,
    env: cleanEnvironment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: options.isGroup ?? false,
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  })
  return new Program(child, options.isGroup ?? false)
}

/** Starts the server on a free port and waits until it reports that it is ready. */
export async function serve(settings: Environment, options: LaunchOptions = {}): Promise<ReadyServer> {
  const port = settings['PORT'] ?? String(await freePort())
  const program = launch({ ...settings, PORT: port }, options)
  const [, url] = await program.says(/^Lastseen is ready: (http:\S+)/m)
  const readyMs = performance.now() - program.startedAt
  return { program, url: url!, readyMs, send: (method, path, more = {}) => send(url!, method, path, more) }
}

/** Starts the server on its own terminal with `script`; all output of the server is on the standard output of `script`. */
export async function serveOnTerminal(settings: Environment, ...args: string[]): Promise<ReadyServer> {
  const port = settings['PORT'] ?? String(await freePort())
  const line = [process.execPath, entry, 'serve', ...args].join(' ')
  const program = launch({ ...settings, PORT: port }, { command: ['script', '-qec', line, '/dev/null'] })
  await expect.poll(() => program.stdout, { timeout: 60_000 }).toContain('Lastseen is ready: ')
  const readyMs = performance.now() - program.startedAt
  const url = `http://127.0.0.1:${port}`
  return { program, url, readyMs, send: (method, path, more = {}) => send(url, method, path, more) }
}

/** Runs a command and waits until it exits. */
export function lastseen(args: string[], settings: Environment): Promise<ExitResult> {
  return launch(settings, { args }).ended
}

/** Under root, PostgreSQL runs as another user, who must be able to enter the folder. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lastseen-process-'))
  chmodSync(folder, 0o755)
  dataDirs.push(folder)
  return folder
}

/** The process of the embedded database in this folder, or undefined when none runs. */
export async function databaseOf(dataDir: string): Promise<{ pid: number; url: string } | undefined> {
  const found = await readPostmaster(join(dataDir, 'postgres'))
  if (found === undefined) return undefined
  const password = readFileSync(join(dataDir, 'postgres.superuser-password'), 'utf8')
  return { pid: found.pid, url: `postgres://postgres:${password}@127.0.0.1:${found.port}/lastseen` }
}

/** Runs the work with a superuser connection. */
export async function withSql<Result>(url: string, work: (sql: postgres.Sql) => Promise<Result>): Promise<Result> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined, connection: { application_name: 'test' } })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Creates an empty database on the PostgreSQL server of the test run. */
export async function emptyDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `outside_${process.pid}_${Math.random().toString(36).slice(2)}`
  const clusterUrl = inject('clusterUrl')
  await withSql(clusterUrl, (sql) => sql.unsafe(`create database ${name}`))
  const url = new URL(clusterUrl)
  url.pathname = `/${name}`
  return {
    url: url.href,
    async drop() {
      await withSql(clusterUrl, (sql) => sql.unsafe(`drop database if exists ${name} with (force)`))
    },
  }
}

export interface Pair {
  client_id: string
  client_secret: string
}

/** Parses the credential and the admin that a first start prints. */
export function firstCredentials(stderr: string): Pair & { email: string; password: string } {
  const read = (label: string): string => new RegExp(`^ +${label} +(\\S+)$`, 'm').exec(stderr)?.[1] ?? ''
  return {
    client_id: read('client_id'),
    client_secret: read('client_secret'),
    email: read('Sign in with'),
    password: read('Password'),
  }
}

export function exchange(url: string, { client_id, client_secret }: Pair): Promise<Reply> {
  return send(url, 'POST', '/api/v1/oauth/token', {
    json: { grant_type: 'client_credentials', client_id, client_secret },
  })
}

export async function tokenFor(url: string, pair: Pair): Promise<string> {
  const reply = await exchange(url, pair)
  expect(reply.status).toBe(200)
  return reply.json.access_token as string
}

/** Waits until the process has exited; a zombie counts as exited. */
export async function waitForExit(pid: number): Promise<void> {
  const isZombie = (): boolean => {
    try {
      return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('Z') ?? false
    } catch {
      return false
    }
  }
  while (isAlive(pid) && !isZombie()) await sleep(20)
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** The first start builds the program; once is enough for all files of a worker. */
let built: Promise<ExitResult> | undefined

/** Builds the program before the first test of the file, and ends whatever a failed test left behind. */
export function usePrograms({ isBuilt = true } = {}): void {
  beforeAll(async () => {
    if (!isBuilt) return
    built ??= lastseen(['--help'], {})
    const { code, stderr } = await built
    expect(code, stderr).toBe(0)
  }, 120_000)
  afterAll(async () => {
    for (const program of programs.filter((one) => one.isRunning)) await program.stop('SIGKILL')
    for (const folder of dataDirs) {
      const database = await databaseOf(folder).catch(() => undefined)
      if (database !== undefined && commandOf(database.pid).includes(folder)) {
        process.kill(database.pid, 'SIGQUIT')
        await waitForExit(database.pid)
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  })
}
