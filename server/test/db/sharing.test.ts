import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, createDatabase } from '../../src/db/create-database.ts'
import { sql } from '../../src/db/sql.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'

let database: TestDatabase
let db: Connection

beforeAll(async () => {
  database = await cloneDatabase()
  db = createDatabase({ url: database.url, poolSize: 4 })
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const sleeping = sql`select pg_sleep(1)`
const one = sql`select 1 as one`

/** The database handles, as organization 1 overloads them and organization 2 uses them once. */
const ways: [string, (orgId: number, statement: typeof one) => Promise<unknown>][] = [
  ['a transaction', (orgId, statement) => db.withTenant(orgId, (tx) => tx.query(statement))],
  ['a pipelined transaction', (orgId, statement) => db.withTenantPipelined(orgId, (tx) => tx.query(statement))],
  ['a search', (orgId, statement) => db.searches(orgId).query(statement)],
  ['a report', (orgId, statement) => db.replica(orgId).query(statement)],
]

describe('While one organization floods the database with slow statements', () => {
  it.each(ways)('%s of another one starts at once', async (_name, run) => {
    await Promise.all([1, 2].map((orgId) => run(orgId, one)))
    const slowStatements = Array.from({ length: 12 }, () => run(1, sleeping))
    const settled = Promise.allSettled(slowStatements)
    await new Promise((resume) => setTimeout(resume, 100))
    const startedMs = performance.now()
    await expect(run(2, one)).resolves.toEqual([{ one: 1 }])
    expect(performance.now() - startedMs).toBeLessThan(1000)
    await settled
  })

  it('single reads are not delayed by slow searches and reports', async () => {
    const slowStatements = [1, 2, 3, 4, 5, 6].flatMap((orgId) => [db.searches(orgId), db.replica(orgId)])
    const settled = Promise.allSettled(slowStatements.map((way) => way.query(sleeping)))
    const startedMs = performance.now()
    await expect(db.read.query(one)).resolves.toEqual([{ one: 1 }])
    expect(performance.now() - startedMs).toBeLessThan(1000)
    await settled
  })
})
