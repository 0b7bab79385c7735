/** Starts and stops what a benchmark needs: PostgreSQL, the server, and helper processes. */
import { execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const program = here('../server/bin/lastseen.mjs')
const startTimeoutMs = 60_000
const stopTimeoutMs = 15_000
/** Linux schedules the CPU by session (autogroup), so each process gets its own session and thus its own share. */
const ownSession = { detached: true }
const lowPriority = 10

export const log = (line) => process.stderr.write(`${line}\n`)

/** Collects started resources and stops them in reverse order. */
export class Scope {
  #resources = []
  #stopped

  async use(starting) {
    if (this.#stopped !== undefined) throw new Error('the benchmark was stopped')
    this.#resources.push(starting)
    return starting
  }

  /** Also waits for resources that are still starting, and stops them. */
  stop() {
    this.#stopped ??= this.#stopAll()
    return this.#stopped
  }

  async #stopAll() {
    for (const starting of this.#resources.toReversed()) {
      const resource = await Promise.resolve(starting).catch(() => null)
      await resource?.stop().catch((error) => log(`Error while stopping: ${error.message}`))
    }
  }
}

export async function stopProcess(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
  await exited
  clearTimeout(timer)
}

const environmentOf = (settings) => ({ PATH: process.env.PATH, HOME: process.env.HOME, ...settings })

/** Runs an administration command of the server and returns its JSON output. */
export function runCommand(url, ...args) {
  const env = environmentOf({ DATABASE_URL: url })
  const options = { env, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 }
  return JSON.parse(execFileSync(process.execPath, [program, ...args, '--json'], options) || 'null')
}

/** Starts the program as an operator does. Its request log goes to a file. Resolves when it accepts requests. */
async function startProgram(args, folder, settings) {
  const logFile = openSync(join(folder, 'server.log'), 'a')
  const port = Number(settings.PORT ?? (await freePort()))
  const env = environmentOf({ PORT: String(port), LASTSEEN_MQTT_PORT: '0', NODE_ENV: 'production', ...settings })
  const child = spawn(process.execPath, [program, ...args], { ...ownSession, stdio: ['ignore', logFile, 'pipe'], env })
  let output = ''
  const ready = new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the server did not start in time:\n${output}`)), startTimeoutMs)
    child.stderr.on('data', (chunk) => {
      output += chunk
      if (output.includes('ready: http')) resolve(clearTimeout(timer))
    })
    child.once('exit', () => reject(new Error(`the server exited:\n${output}`)))
  })
  ready.catch(() => undefined)
  const stop = () => stopProcess(child)
  try {
    await ready
    return { pid: child.pid, port, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

export const startServer = ({ url, folder, workers = 1, settings = {} }) =>
  startProgram(['serve', '--workers', String(workers)], folder, { DATABASE_URL: url, ...settings })

/** Starts the product's embedded PostgreSQL with its usual settings. An otherwise idle server process owns it. */
export async function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), 'lastseen-bench-'))
  chmodSync(folder, 0o755)
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    const data = join(folder, 'data')
    const idleServer = await startProgram(['deliver'], folder, { LASTSEEN_DATA_DIR: data })
    const password = encodeURIComponent(readFileSync(join(data, 'postgres.superuser-password'), 'utf8').trim())
    const port = readFileSync(join(data, 'postgres/postmaster.pid'), 'utf8').split('\n')[3]
    return {
      folder,
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      async stop() {
        await idleServer.stop()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** Runs the work with one database connection. bigint columns become numbers: ids are below 2^53. */
export async function withClient(url, work, config = {}) {
  const client = new pg.Client({ connectionString: url, types: { getTypeParser }, ...config })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export const getTypeParser = (oid, format) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format))

/** Creates a database, with the current schema or as a copy of another one. */
export async function createDatabase(postgres, name, template) {
  await withClient(postgres.url, (client) =>
    client.query(`create database ${name}${template === undefined ? '' : ` template ${template}`}`),
  )
  const url = postgres.url.replace(/postgres$/, name)
  if (template === undefined) runCommand(url, 'migrate')
  return url
}

export const dropDatabases = (postgres) =>
  withClient(postgres.url, async (client) => {
    const { rows } = await client.query(String.raw`select datname from pg_database where datname like 'bench\_%'`)
    for (const { datname } of rows) await client.query(`drop database ${datname} with (force)`)
  })

/** Starts a helper in its own process; `call` runs one of the methods that it exposes (see expose.mjs). */
export function startHelper(file, { isLowPriority = false } = {}) {
  const child = fork(here(file), ownSession)
  if (isLowPriority) lowerPriority(child.pid)
  const exited = once(child, 'exit').then(() => [{ error: 'the process exited' }])
  return {
    pid: child.pid,
    async call(method, argument) {
      child.send({ method, argument })
      const [{ result, error }] = await Promise.race([once(child, 'message'), exited])
      if (error !== undefined) throw new Error(`${file}: ${error}`)
      return result
    },
    stop: () => stopProcess(child),
  }
}

/** Under CPU contention the server, PostgreSQL and the other helpers are scheduled before this process. */
function lowerPriority(pid) {
  setPriority(pid, lowPriority)
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(lowPriority))
  } catch {
    // The kernel has no autogroups; the priority of the process decides.
  }
}

export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

/** CPU time of the whole machine, and how much of it the hypervisor gave to other machines; null where there is no /proc. */
export function machineCpu() {
  try {
    const [line] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
    const times = line.split(/\s+/).slice(1, 9).map(Number)
    return { total: times.reduce((sum, time) => sum + time, 0), stolen: times[7] }
  } catch {
    return null
  }
}

/** The resident memory of a process in MiB; NaN where there is no /proc. */
export function residentMiB(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
  } catch {
    return NaN
  }
}
