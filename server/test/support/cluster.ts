import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { acquireEmbedded } from '../../src/embedded-postgres/acquire.ts'
import { freePort } from './free-port.ts'

/** A PostgreSQL server for one test run. */
export interface Cluster {
  /** URL of the superuser for the database `postgres`. */
  url: string
  stop(): Promise<void>
}

/** The embedded server, an outside one by `TEST_DATABASE_URL`, or Debian's PostgreSQL 15 by `TEST_POSTGRES=15`. */
export async function startCluster(settings: NodeJS.ProcessEnv = process.env): Promise<Cluster> {
  const outside = settings['TEST_DATABASE_URL']
  if (outside !== undefined && outside !== '') return { url: outside, stop: async () => undefined }
  const cluster = await (settings['TEST_POSTGRES'] === '15'
    ? startDebian('/usr/lib/postgresql/15/bin')
    : startEmbedded())
  await skipFsync(cluster.url)
  return cluster
}

/** The databases of a test run need not outlive a power failure; every file creates and drops some. */
async function skipFsync(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    await sql.unsafe('alter system set fsync = off')
    await sql.unsafe('select pg_reload_conf()')
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lastseen-test-'))
  await chmod(folder, 0o755)
  return folder
}

/** The superuser's URL of an embedded server. The superuser has a password of its own in the data directory. */
export function superuserOf(address: string, dataDir: string, database = 'lastseen'): string {
  const url = new URL(address)
  url.username = 'postgres'
  url.password = readFileSync(join(dataDir, 'postgres.superuser-password'), 'utf8')
  url.pathname = `/${database}`
  return url.href
}

async function startEmbedded(): Promise<Cluster> {
  const dataDir = await scratch()
  const server = await acquireEmbedded({ dataDir, progress: () => undefined })
  return {
    url: superuserOf(server.url, dataDir, 'postgres'),
    async stop() {
      await server.release()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL refuses to run as root, and Debian's package brings the user for it. */
const asPostgres = (command: string, args: string[]): [string, string[]] =>
  process.getuid?.() === 0 ? ['runuser', ['-u', 'postgres', '--', command, ...args]] : [command, args]

async function startDebian(bin: string): Promise<Cluster> {
  const folder = await scratch()
  if (process.getuid?.() === 0) spawnSync('chown', ['postgres', folder])
  const data = join(folder, 'data')
  const made = spawnSync(
    ...asPostgres(`${bin}/initdb`, ['-D', data, '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8', '-A', 'trust']),
    { encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`initdb of PostgreSQL 15 failed: ${made.stderr}`)
  const port = await freePort()
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`]
  const flags = [...settings, 'max_connections=200'].flatMap((setting) => ['-c', setting])
  const server = spawn(...asPostgres(`${bin}/postgres`, ['-D', data, ...flags]), { stdio: 'ignore' })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await untilAnswers(url)
  return {
    url,
    async stop() {
      spawnSync(...asPostgres(`${bin}/pg_ctl`, ['-D', data, '-m', 'fast', '-w', 'stop']))
      server.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function untilAnswers(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const probe = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => undefined })
    try {
      await probe`select 1`
      return
    } catch (error) {
      if (tries > 100) throw error
      await new Promise((resume) => setTimeout(resume, 100))
    } finally {
      await probe.end({ timeout: 1 })
    }
  }
}
