import { expect, it } from 'vitest'
import { readinessCheck } from '../../src/app/readiness.ts'
import { useApp } from '../support/app.ts'

const context = useApp()

it('Many requests for /readyz share one check of the database', async () => {
  const { db, pubsub } = context.app.context
  let pings = 0
  const counting = { ...db, ping: () => (pings++, db.ping()) }
  const check = readinessCheck({ db: counting, pubsub }, () => 0, 60_000)
  expect(new Set(await Promise.all(Array.from({ length: 500 }, () => check())))).toEqual(new Set([null]))
  expect(pings).toBe(1)
  expect(await check()).toBeNull()
  expect(pings).toBe(2)
})
