import { inject } from 'vitest'
import { fleetingTables } from '../../src/db/schema/tables.ts'
import { withSql } from './process.ts'

/** Every row of every table that a backup contains, by table. */
export function allRows(url: string): Promise<Record<string, string[]>> {
  return withSql(url, async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace
        and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> 'schema_migrations' and c.relname not in ${sql(fleetingTables)} order by 1`
    const all: Record<string, string[]> = {}
    for (const { name } of tables) {
      const rows = await sql.unsafe<{ row: string }[]>(`select t::text as row from ${name} t order by 1`)
      all[name] = rows.map((one) => one.row)
    }
    return all
  })
}

/** Creates an empty database whose owner has no further privileges. */
export async function ownedDatabase(): Promise<{ url: string; superUrl: string; drop(): Promise<void> }> {
  const name = `owned_${process.pid}_${Math.random().toString(36).slice(2)}`
  const clusterUrl = inject('clusterUrl')
  await withSql(clusterUrl, async (sql) => {
    await sql.unsafe(`create role ${name} login password 'word'`)
    await sql.unsafe(`grant lastseen_writer, lastseen_reader to ${name}`)
    await sql.unsafe(`create database ${name} owner ${name}`)
  })
  const [url, superUrl] = [new URL(clusterUrl), new URL(clusterUrl)]
  for (const one of [url, superUrl]) one.pathname = `/${name}`
  url.username = name
  url.password = 'word'
  return {
    url: url.href,
    superUrl: superUrl.href,
    async drop() {
      await withSql(clusterUrl, async (sql) => {
        await sql.unsafe(`drop database if exists ${name} with (force)`)
        await sql.unsafe(`drop owned by ${name}`)
        await sql.unsafe(`drop role ${name}`)
      })
    },
  }
}
