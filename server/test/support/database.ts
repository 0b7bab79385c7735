import postgres from 'postgres'
import { inject } from 'vitest'
import { distribute } from '../../src/db/citus/distribute.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { makeMonths } from '../../src/db/schema/partitions.ts'

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

async function onServer<Result>(url: string, work: (sql: postgres.Sql) => Promise<Result>): Promise<Result> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

const onAll = (servers: readonly string[], text: string): Promise<unknown> =>
  Promise.all(servers.map((server) => onServer(server, (sql) => whenFree(sql, text))))

/** PostgreSQL reports the template as in use while another file clones it or a Citus background process is connected. */
async function whenFree(sql: postgres.Sql, text: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await sql.unsafe(text)
      return
    } catch (error) {
      if (tries === 50 || (error as { code?: string }).code !== '55006') throw error
      await new Promise((resume) => setTimeout(resume, 100))
    }
  }
}

function inDatabase(url: string, name: string): string {
  const there = new URL(url)
  there.pathname = `/${name}`
  return there.href
}

/** The servers that a database lives on: one, or the coordinator of a Citus cluster and then its other nodes. */
export function serversOf(url: string): Promise<string[]> {
  return onServer(url, async (sql) => {
    const [known] = await sql<{ is: boolean }[]>`select to_regclass('pg_dist_node') is not null as is`
    if (!known!.is) return [url]
    const nodes = await sql<{ host: string; port: number }[]>`
      select nodename as host, nodeport as port from pg_dist_node where groupid <> 0`
    const others = nodes.map(
      ({ host, port }) => Object.assign(new URL(url), { hostname: host, port: String(port) }).href,
    )
    return [url, ...others]
  })
}

/** A database with the newest schema and no rows, to be cloned; on Citus it is distributed. */
export async function makeTemplate(servers: readonly string[], isCitus: boolean, name: string): Promise<void> {
  await onAll(servers, `create database ${name}`)
  const url = inDatabase(servers[0]!, name)
  if (isCitus) await joinNodes(servers, name)
  await migrate(url)
  if (isCitus) await distribute(url)
  await makeMonths(url, Date.now(), 450)
  // Citus runs a background process in every database; a database cannot be cloned while it is connected.
  await onAll(servers, `alter database ${name} allow_connections false`)
  await onAll(servers, `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`)
}

async function joinNodes(servers: readonly string[], name: string): Promise<void> {
  await onAll(
    servers.map((server) => inDatabase(server, name)),
    'create extension citus',
  )
  const [coordinator, ...others] = servers.map((server) => new URL(server))
  await onServer(inDatabase(servers[0]!, name), async (sql) => {
    await sql`select citus_set_coordinator_host(${coordinator!.hostname}, ${Number(coordinator!.port || 5432)})`
    for (const { hostname, port } of others) await sql`select citus_add_node(${hostname}, ${Number(port || 5432)})`
  })
}

export async function dropDatabase(servers: readonly string[], name: string): Promise<void> {
  await onAll(servers, `drop database if exists ${name} with (force)`)
}

/** The number of sessions of this database that wait for a lock, over all servers. */
export async function lockWaits(url: string): Promise<number> {
  const name = new URL(url).pathname.slice(1)
  const waiting = await Promise.all(
    inject('servers').map((server) =>
      onServer(server, (sql) => sql`select from pg_stat_activity where datname = ${name} and wait_event_type = 'Lock'`),
    ),
  )
  return waiting.flat().length
}

/** Creates a database with the newest schema and no rows, on every server. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const name = `lastseen_${process.pid}_${Math.random().toString(36).slice(2)}`
  const servers = inject('servers')
  // A copy of the files takes half the processor time of a copy through the write-ahead log, and so does the drop.
  await onAll(servers, `create database ${name} template ${inject('templateName')} strategy file_copy`)
  return { url: inDatabase(servers[0]!, name), drop: () => dropDatabase(servers, name) }
}
