import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, createDatabase } from '../../src/db/create-database.ts'
import { sql } from '../../src/db/sql.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'

let database: TestDatabase
let db: Connection

beforeAll(async () => {
  database = await cloneDatabase()
  db = createDatabase({ url: database.url, poolSize: 1 })
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

/** Materializes 400 MB. */
const wasteful = sql`
  with wide as materialized (select repeat(md5(n::text), 64) as text from generate_series(1, 200000) n)
  select max(text) from wide`
const settings = sql`select current_setting('work_mem') as memory, current_setting('temp_file_limit') as files`

describe('Of the database server', () => {
  it.each<[string, (statement: typeof settings) => Promise<unknown>]>([
    ['a read', (statement) => db.read.query(statement)],
    ['a search', (statement) => db.searches(1).query(statement)],
    ['a report', (statement) => db.replica(1).query(statement)],
    ['a transaction', (statement) => db.withTenant(1, (tx) => tx.query(statement))],
    ['a statement on global tables', (statement) => db.global.query(statement)],
  ])('%s takes at most 8 MB of memory per sort and 256 MB of temporary files', async (_what, run) => {
    await expect(run(settings)).resolves.toEqual([{ memory: '8MB', files: '256MB' }])
    await expect(run(wasteful)).rejects.toMatchObject({
      kind: 'rate_limited',
      message: expect.stringContaining('narrow') as string,
    })
  })
})
