import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, createDatabase } from '../../src/db/create-database.ts'
import { sql } from '../../src/db/sql.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'

let database: TestDatabase
let db: Connection
const orgId = 7

beforeAll(async () => {
  database = await cloneDatabase()
  db = createDatabase({ url: database.url, poolSize: 4 })
  await db.withTenant(orgId, async (tx) => {
    await tx.query(sql`insert into organizations (org_id, created_at) values (${orgId}, ${'2026-01-01T00:00:00Z'})`)
    for (const kind of ['a', 'b'])
      await tx.query(sql`insert into key_counters (org_id, kind, last) values (${orgId}, ${kind}, 0)`)
  })
})

afterAll(async () => {
  await db.close()
  await database.drop()
})

const bump = (kind: string) =>
  sql`update key_counters set last = last + 1 where org_id = ${orgId} and kind = ${kind} returning last`

const lastOf = async (kind: string): Promise<number> =>
  (
    await db.read.query<{ last: number }>(sql`select last from key_counters where org_id = ${orgId} and kind = ${kind}`)
  )[0]!.last

const failure = (code: string): Error => Object.assign(new Error('made by the test'), { code })

describe('A transaction', () => {
  it('that succeeds is committed, and a transaction that fails stores nothing', async () => {
    const before = await lastOf('a')
    await db.withTenant(orgId, (tx) => tx.query(bump('a')))
    expect(await lastOf('a')).toBe(before + 1)
    const failing = db.withTenant(orgId, async (tx) => {
      await tx.query(bump('a'))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await lastOf('a')).toBe(before + 1)
  })

  it('that loses a deadlock is retried, and both transactions succeed', async () => {
    const [a, b] = [await lastOf('a'), await lastOf('b')]
    let runs = 0
    let met = 0
    const crossing = (first: string, second: string) =>
      db.withTenant(orgId, async (tx) => {
        runs++
        await tx.query(bump(first))
        // In the first attempt both lock their first row before either requests its second.
        met++
        await expect.poll(() => met, { timeout: 5000, interval: 5 }).toBeGreaterThanOrEqual(2)
        await tx.query(bump(second))
      })
    await Promise.all([crossing('a', 'b'), crossing('b', 'a')])
    // The retried transaction may lock its first row again before the other one resumes, and deadlock once more.
    expect(runs).toBeGreaterThanOrEqual(3)
    expect([await lastOf('a'), await lastOf('b')]).toEqual([a + 2, b + 2])
  })

  it.each(['40P01', '40001'])('that keeps failing with %s fails after four attempts', async (code) => {
    const before = await lastOf('a')
    let runs = 0
    const failing = db.withTenant(orgId, async (tx) => {
      runs++
      await tx.query(bump('a'))
      throw failure(code)
    })
    await expect(failing).rejects.toMatchObject({ code })
    expect([runs, await lastOf('a')]).toEqual([4, before])
  })

  it('that fails for another reason is not retried', async () => {
    let runs = 0
    const failing = db.globalTransaction(async () => {
      runs++
      throw failure('22012')
    })
    await expect(failing).rejects.toMatchObject({ code: '22012' })
    expect(runs).toBe(1)
  })

  it('with a unique violation is a conflict with a detail of the service', async () => {
    const mail = { user: 1, email: 'a@example.com', hash: '', at: '2026-01-01T00:00:00Z' }
    const insert = (id: number) =>
      db.globalTransaction((tx) =>
        tx.query(sql`
          insert into users (user_id, email, password_hash, created_at)
          values (${id}, ${mail.email}, ${mail.hash}, ${mail.at})`),
      )
    await insert(1)
    await expect(insert(2)).rejects.toMatchObject({ kind: 'conflict' })
  })

  it('leaves its connection usable after any failure', async () => {
    for (let count = 0; count < 12; count++)
      await expect(db.withTenant(orgId, (tx) => tx.query(sql`select 1 / 0`))).rejects.toMatchObject({
        code: '22012',
      })
    await expect(db.withTenant(orgId, (tx) => tx.query(sql`select 1 as one`))).resolves.toEqual([{ one: 1 }])
  })

  it('waits when all connections are in use', async () => {
    const before = await lastOf('b')
    await Promise.all(Array.from({ length: 40 }, () => db.withTenant(orgId, (tx) => tx.query(bump('b')))))
    expect(await lastOf('b')).toBe(before + 40)
  })

  it('rejects an organization id that is no integer, before anything is sent', () => {
    for (const bad of [NaN, 1.5, '1; drop table assets' as never, undefined as never])
      expect(() => db.withTenant(bad, async () => undefined)).toThrow(TypeError)
  })

  it('may commit without waiting for the disk, in this transaction alone', async () => {
    const setting = sql`select current_setting('synchronous_commit') as value`
    const asyncRows = await db.withTenant(orgId, (tx) => tx.query<{ value: string }>(setting), { asyncCommit: true })
    const defaultRows = await db.withTenant(orgId, (tx) => tx.query<{ value: string }>(setting))
    expect([asyncRows[0]!.value, defaultRows[0]!.value]).toEqual(['off', 'on'])
  })
})

describe('Values passed through the driver', () => {
  it('keep their types: ids are numbers, timestamps and JSON are text, bytes are bytes', async () => {
    const [row] = await db.read.query<Record<string, unknown>>(sql`
      select ${9_007_199_254_740_991}::bigint as id, '2026-01-02T03:04:05.678901Z'::timestamptz as at,
        '{"a": 1.0}'::json as document, ${Buffer.from([0, 255])}::bytea as bytes, ${['a', 'b']}::text[] as list,
        ${[1, 2]}::bigint[] as ids, ${null}::text as nothing, count(*) as total`)
    expect(row).toEqual({
      id: 9_007_199_254_740_991,
      at: '2026-01-02 03:04:05.678901+00',
      document: '{"a": 1.0}',
      bytes: Buffer.from([0, 255]),
      list: ['a', 'b'],
      ids: [1, 2],
      nothing: null,
      total: 1,
    })
  })
})
