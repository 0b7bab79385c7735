import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type postgres from 'postgres'
import { freePort } from './free-port.ts'
import { waitForExit, withSql } from './process.ts'

export const debianPrograms = '/usr/lib/postgresql/15/bin'

/** PostgreSQL refuses to run as root, and Debian's package brings the user for it. */
function run(program: string, ...args: string[]): void {
  const command = [join(debianPrograms, program), ...args]
  const whole = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--', ...command] : command
  const { status, stderr, stdout } = spawnSync(whole[0]!, whole.slice(1), { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} failed: ${stderr}${stdout}`)
}

/** One of two PostgreSQL 15 servers on this machine. */
class Server {
  readonly port: number
  readonly data: string
  readonly #folder: string

  constructor(folder: string, name: string, port: number) {
    this.#folder = folder
    this.data = join(folder, name)
    this.port = port
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/lastseen`
  }

  sql<Result>(work: (sql: postgres.Sql) => Promise<Result>, name = 'lastseen'): Promise<Result> {
    return withSql(this.url.replace(/lastseen$/, name), work)
  }

  async start(settings: Record<string, string> = {}): Promise<void> {
    const all = {
      ...{ port: String(this.port), listen_addresses: '127.0.0.1', unix_socket_directories: this.#folder },
      ...settings,
    }
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const command = [join(debianPrograms, 'postgres'), '-D', this.data, ...flags]
    const whole = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--', ...command] : command
    spawn(whole[0]!, whole.slice(1), { stdio: 'ignore' })
    for (let tries = 0; ; tries++) {
      try {
        await this.sql((sql) => sql`select 1`, 'postgres')
        return
      } catch (error) {
        if (tries === 200) throw error
        await new Promise((resume) => setTimeout(resume, 100))
      }
    }
  }

  /** Kills the server, as a power failure does. */
  async kill(): Promise<void> {
    const pid = Number(readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n')[0])
    process.kill(pid, 'SIGKILL')
    await waitForExit(pid)
  }

  stop(): void {
    run('pg_ctl', '-D', this.data, '-m', 'immediate', '-w', 'stop')
  }

  isRunning(): boolean {
    try {
      run('pg_ctl', '-D', this.data, 'status')
      return true
    } catch {
      return false
    }
  }
}

/** A primary with synchronous replication, and its standby. */
export interface Pair {
  primary: Server
  standby: Server
  remove(): void
}

export async function startPair(): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), 'lastseen-pair-'))
  chmodSync(folder, 0o755)
  if (process.getuid?.() === 0) spawnSync('chown', ['postgres', folder])
  const primary = new Server(folder, 'first', await freePort())
  run('initdb', '-D', primary.data, '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8', '-A', 'trust', '--no-sync')
  await primary.start()
  await primary.sql((sql) => sql`create database lastseen`, 'postgres')
  const standby = new Server(folder, 'second', await freePort())
  const from = `host=127.0.0.1 port=${primary.port} user=postgres application_name=second`
  run('pg_basebackup', '-D', standby.data, '-d', from, '-R', '-X', 'stream', '-c', 'fast', '--no-sync')
  await standby.start()
  await primary.sql(async (sql) => {
    await sql`alter system set synchronous_standby_names = 'second'`
    await sql`select pg_reload_conf()`
  })
  return {
    primary,
    standby,
    remove() {
      for (const server of [primary, standby]) if (server.isRunning()) server.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
