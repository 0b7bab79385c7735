import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, createDatabase } from '../../src/db/create-database.ts'
import { sql } from '../../src/db/sql.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'

let database: TestDatabase
let db: Connection
let admin: postgres.Sql

beforeAll(async () => {
  database = await cloneDatabase()
  db = createDatabase({ url: database.url, poolSize: 4 })
  admin = postgres(database.url, { max: 1, onnotice: () => undefined })
  await admin`create table held (id int)`
  await admin`grant all on held to lastseen_writer, lastseen_reader`
})
afterAll(async () => {
  await db.close()
  await admin.end({ timeout: 5 })
  await database.drop()
})

const endless = sql`select pg_sleep(25)`
const tooSlow = { kind: 'rate_limited', message: expect.stringContaining('narrow') as string }

async function secondsOf(work: Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work.catch(() => undefined)
  return (performance.now() - startedMs) / 1000
}

describe('A statement is ended by the database', () => {
  it.concurrent.each<[string, number, () => Promise<unknown>]>([
    ['a search', 5, () => db.searches(1).query(endless)],
    ['a report', 5, () => db.replica(1).query(endless)],
    ['another read', 10, () => db.read.query(endless)],
    ['a statement of a transaction', 10, () => db.withTenant(1, (tx) => tx.query(endless))],
    ['a statement of a pipelined transaction', 10, () => db.withTenantPipelined(1, (tx) => tx.query(endless))],
    ['a statement on global tables', 10, () => db.global.query(endless)],
  ])('when %s takes longer than %i seconds, and the caller is advised to narrow it', async (_what, limit, run) => {
    const running = run()
    const took = secondsOf(running)
    await expect(running).rejects.toMatchObject(tooSlow)
    expect(await took).toBeGreaterThan(limit - 0.5)
    expect(await took).toBeLessThan(limit + 4)
  })
})

describe('A statement may take 30 seconds', () => {
  const settings = sql`select current_setting('statement_timeout') as timeout`

  it.each<[string, (statement: typeof settings) => Promise<unknown>]>([
    ['in background work of an organization', (statement) => db.background.withTenant(1, (tx) => tx.query(statement))],
    ['in background work on global tables', (statement) => db.background.global.query(statement)],
    ['in an export', (statement) => db.withTenant(1, (tx) => tx.query(statement), { isSnapshot: true })],
  ])('%s', async (_what, run) => {
    await expect(run(settings)).resolves.toEqual([{ timeout: '30s' }])
  })
})

describe('A lock that another session holds', () => {
  /** Runs the work while the administrator locks the table. */
  async function whileHeld<Result>(work: () => Promise<Result>): Promise<Result> {
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    let isHeld = (): void => undefined
    const held = new Promise<void>((resolve) => (isHeld = resolve))
    const holding = admin.begin(async (tx) => {
      await tx`lock table held in access exclusive mode`
      isHeld()
      await released
    })
    await held
    try {
      return await work()
    } finally {
      release()
      await holding
    }
  }
  const insert = sql`insert into held (id) values (1)`

  it('is waited for 3 seconds by a transaction, whose caller is asked to retry', async () => {
    await whileHeld(async () => {
      const running = db.withTenant(1, (tx) => tx.query(insert))
      const took = secondsOf(running)
      await expect(running).rejects.toMatchObject({ kind: 'rate_limited', headers: { 'Retry-After': '1' } })
      expect(await took).toBeGreaterThan(2.5)
      expect(await took).toBeLessThan(6)
    })
  })

  it('is waited for longer by background work', async () => {
    let running: Promise<unknown> = Promise.resolve()
    await whileHeld(async () => {
      running = db.background.withTenant(1, (tx) => tx.query(insert))
      await new Promise((resume) => setTimeout(resume, 4000))
    })
    await expect(running).resolves.toEqual([])
  })
})
