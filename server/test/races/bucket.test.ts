import { describe, expect, it } from 'vitest'
import { type TestApp, useApp, useSecondApp } from '../support/app.ts'
import { ManualClock, type Key, mintKeys, tokensOf, whoAmI } from '../support/auth.ts'
import { raceRounds } from '../support/rounds.ts'

const parallel = 200

/** Repeats a request that was rejected for another reason: on a stalled machine the queue rejects requests that waited long. */
async function send(app: TestApp, access: string): Promise<Awaited<ReturnType<typeof whoAmI>>> {
  const reply = await whoAmI(app, access)
  const isRejectedByQueue = reply.status === 429 && reply.headers['x-ratelimit-remaining'] !== '0'
  return isRejectedByQueue ? whoAmI(app, access) : reply
}

/** Sends 200 requests of one key at once, spread over the processes, and counts the statuses. */
async function race(apps: readonly TestApp[], key: Key): Promise<void> {
  const { access } = await tokensOf(apps[0]!, key)
  const sends = Array.from({ length: parallel }, (_, index) => send(apps[index % apps.length]!, access))
  const replies = await Promise.all(sends)
  const admitted = replies.filter((reply) => reply.status === 200)
  const rejected = replies.filter((reply) => reply.status === 429)
  expect({ admitted: admitted.length, rejected: rejected.length }).toEqual({ admitted: 120, rejected: parallel - 120 })
  const shown = admitted.map((reply) => Number(reply.headers['x-ratelimit-remaining'])).sort((a, b) => a - b)
  expect(shown).toEqual(Array.from({ length: 120 }, (_, index) => index))
  expect(new Set(rejected.map((reply) => reply.headers['x-ratelimit-remaining']))).toEqual(new Set(['0']))
}

describe('200 parallel requests of a new key with a fixed clock', () => {
  describe('with the buckets in memory', () => {
    const context = useApp({ clock: new ManualClock() })

    it('admit exactly 120, every time', { timeout: 300_000 }, async () => {
      const org = await context.app.newOrg()
      for (const key of await mintKeys(org, raceRounds(60))) await race([context.app], key)
    })
  })

  describe('with the buckets in the database, over two processes', () => {
    const clock = new ManualClock()
    const context = useApp({ clock, isOneOfSeveral: true })
    const second = useSecondApp(context, { clock, isOneOfSeveral: true })

    it('admit exactly 120, every time', { timeout: 300_000 }, async () => {
      const org = await context.app.newOrg()
      for (const key of await mintKeys(org, raceRounds(60))) await race([context.app, second.app], key)
    })
  })
})
