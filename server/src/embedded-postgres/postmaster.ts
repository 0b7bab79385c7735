import { spawn } from 'node:child_process'
import { copyFile, open, readFile, stat, truncate } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { displayPath, type DataDirectory, type Prepared } from './cluster.ts'
import { isAlive } from './file-lock.ts'
import { interrupt, launchOptions } from './binaries.ts'

const LOG_LIMIT = 10 * 1024 * 1024
const START_MS = 300_000
const STOP_MS = 30_000

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // Enough for the maximum number of workers, each with its pools.
  max_connections: '1000',
  shared_buffers: '256MB',
  max_wal_size: '1GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
  log_destination: 'stderr',
  jit: 'off',
}

export interface Postmaster {
  readonly pid: number
  readonly port: number
  readonly status: string
}

/** The server of the pid file, if its process is alive. */
export async function readPostmaster(pgdata: string): Promise<Postmaster | undefined> {
  const lines = (await readFile(join(pgdata, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  if (!(pid > 0) || !isAlive(pid)) return undefined
  return { pid, port: Number(lines[3] ?? 0), status: (lines[7] ?? '').trim() }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/**
 * Copies a log that exceeds its limit to `.1` and truncates it. The file is not renamed, because a running server would
 * continue to write to the renamed file. Returns the size of the log.
 */
export async function rotateLog(file: string): Promise<number> {
  const size = (await stat(file).catch(() => undefined))?.size ?? 0
  if (size <= LOG_LIMIT) return size
  await copyFile(file, `${file}.1`)
  await truncate(file)
  return 0
}

async function logTail(file: string, from = 0): Promise<string> {
  const text = (await readFile(file).catch(() => Buffer.alloc(0))).subarray(from).toString()
  const lines = text.trimEnd().split('\n').slice(-12).join('\n')
  return lines === '' ? '' : `\nThe last lines of ${displayPath(file)}:\n${lines}`
}

/** Starts the server and waits until it is ready. Returns undefined, or the reason why it failed. */
export async function startPostmaster(
  directory: DataDirectory,
  ready: Prepared,
  port?: number,
): Promise<string | undefined> {
  const from = await rotateLog(directory.logFile)
  const settings = Object.entries({ ...SETTINGS, port: String(port ?? (await freePort())) })
  const args = ['-D', ready.files, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const log = await open(directory.logFile, 'a', 0o600)
  let ended: string | undefined
  let pid: number | undefined
  try {
    const stdio: ['ignore', number, number] = ['ignore', log.fd, log.fd]
    const child = spawn(join(ready.programs, 'postgres'), args, {
      ...launchOptions(ready.account),
      detached: true,
      stdio,
    })
    child.on('error', (error) => (ended = `The PostgreSQL program could not be started: ${error.message}`))
    child.on('exit', () => (ended = 'PostgreSQL stopped while it was starting.'))
    child.unref()
    pid = child.pid
  } finally {
    await log.close()
  }
  const deadline = Date.now() + START_MS
  while (ended === undefined && Date.now() < deadline) {
    const server = await readPostmaster(directory.pgdata)
    if (server?.pid === pid && server?.status === 'ready') return undefined
    await sleep(30)
  }
  return (ended ?? 'PostgreSQL did not get ready within five minutes.') + (await logTail(directory.logFile, from))
}

/** Stops the server cleanly and waits until its process has ended. */
export async function stopPostmaster(directory: DataDirectory): Promise<void> {
  const server = await readPostmaster(directory.pgdata)
  if (!server) return
  await interrupt(server.pid)
  const deadline = Date.now() + STOP_MS
  let giveUpAt = Infinity
  while (isAlive(server.pid) && Date.now() < giveUpAt) {
    if (Date.now() > deadline) {
      throw new Error(
        `PostgreSQL (pid ${server.pid}) did not stop within 30 seconds.${await logTail(directory.logFile)}`,
      )
    }
    await sleep(30)
    // A zombie process still counts as alive, but its pid file is gone.
    if (giveUpAt === Infinity && !(await readPostmaster(directory.pgdata))) giveUpAt = Date.now() + 1000
  }
}
