import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { databaseLimiter } from '../../src/auth/shared-buckets.ts'
import { closeBucket } from '../../src/auth/shared-buckets.sql.ts'
import type { Database, Db } from '../../src/db/database.ts'
import { rateState } from '../../src/http/rate-limit.ts'
import { useAppContext } from '../support/app-context.ts'

describe('Buckets in the database', () => {
  const used = useAppContext()
  let statements = 0
  let broken: Error | null = null
  const millis = (): number => 1_700_000_000_000

  const limiter = () => {
    const query: Db['query'] = async (statement) => {
      statements++
      if (broken !== null) throw broken
      return used.context.db.global.query(statement)
    }
    return databaseLimiter({ global: { query } } as unknown as Database, { millis })
  }

  it('are consumed in one batch while a statement is in flight, one token per credential in turn', async () => {
    const shared = limiter()
    statements = 0
    const ids = Array.from({ length: 20 }, () => randomUUID())
    const consumed = await Promise.all([...ids, ...ids, ...ids].map(async (id) => shared.consume(id)))
    expect(consumed.map(({ tokens }) => tokens)).toEqual([119, 118, 117].flatMap((left) => ids.map(() => left)))
    expect(statements).toBe(4)
  })

  it('reject a revoked credential and no other credential of the same batch', async () => {
    const shared = limiter()
    const [revoked, other] = [randomUUID(), randomUUID()]
    await closeBucket(used.context.db.global, revoked, millis())
    const [first, ...rest] = await Promise.allSettled([
      shared.consume(other),
      shared.consume(revoked),
      shared.consume(other),
    ])
    expect(first).toMatchObject({ value: { admitted: true, tokens: 119 } })
    expect(rest[0]).toMatchObject({ reason: { kind: 'unauthorized' } })
    expect(rest[1]).toMatchObject({ value: { admitted: true, tokens: 118 } })
  })

  it('refill from the latest time at which any process consumed a token, so Reset is right where one clock is behind [D45]', async () => {
    const id = randomUUID()
    const at = (ms: number) => databaseLimiter(used.context.db, { millis: () => ms })
    await at(millis() + 2500).consume(id)
    const consumed = await at(millis()).consume(id)
    expect(consumed).toEqual({ admitted: true, tokens: 118, filledAt: millis() + 2500 })
    const reset = Number(rateState(consumed).reset)
    expect(reset).toBe(millis() / 1000 + 5)
    expect(await at((reset - 1) * 1000).consume(id)).toMatchObject({ tokens: 118.5 })
    const again = Number(rateState(await at((reset - 1) * 1000).consume(id)).reset)
    expect(await at(again * 1000).consume(id)).toMatchObject({ tokens: 119 })
  })

  it('fail while the database is down and work again when it is back', async () => {
    const shared = limiter()
    const id = randomUUID()
    broken = new Error('gone')
    await expect(shared.consume(id)).rejects.toThrow('gone')
    broken = null
    expect(await shared.consume(id)).toEqual({ admitted: true, tokens: 119, filledAt: millis() })
  })
})
