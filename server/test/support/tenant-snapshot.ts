import postgres from 'postgres'
import { afterAll, beforeAll } from 'vitest'
import type { TestApp } from './app.ts'

/** Tables that every request may change: issued tokens, and when a credential was last used. */
const volatile = ['credentials', 'refresh_token_families']

/** The database of the app, read by its superuser. */
export interface SnapshotDatabase {
  readonly sql: postgres.Sql
  /** Every row of the organization in every tenant table, as comparable text. */
  snapshot(orgId: number): Promise<string>
}

export function useSnapshotDatabase(context: { readonly app: TestApp }): SnapshotDatabase {
  let sql: postgres.Sql
  let tables: string[] = []
  beforeAll(async () => {
    sql = postgres(context.app.databaseUrl, { max: 1, onnotice: () => undefined })
    const rows = await sql<{ tablename: string }[]>`
      select distinct tablename from pg_policies where schemaname = 'public' order by tablename`
    tables = rows.map((row) => row.tablename).filter((table) => !volatile.includes(table))
  })
  afterAll(() => sql.end({ timeout: 5 }))
  return {
    get sql() {
      return sql
    },
    async snapshot(orgId) {
      const parts = tables.map(
        (table) => `'${table}', (select json_agg(t order by t::text) from "${table}" t where t.org_id = $1::bigint)`,
      )
      const [row] = await sql.unsafe(`select json_build_object(${parts.join(', ')})::text as all`, [String(orgId)])
      return (row as unknown as { all: string }).all
    },
  }
}
