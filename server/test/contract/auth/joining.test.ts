import { describe, expect, it } from 'vitest'
import { startApp, useApp } from '../../support/app.ts'
import { ManualClock } from '../../support/auth.ts'
import { useAppBehindProxy } from '../../support/proxied-database.ts'
import { database, eventually } from '../../support/tracking.ts'

const clock = new ManualClock()
const context = useApp({ clock, singleServerReason: 'the second process joins in the middle of the test' })

describe('The rate limit of a process when a second process starts', () => {
  it('continues from the current buckets and is exact over both processes', async () => {
    const { app } = context
    const token = await (await app.newOrg()).client('assets:read').token()
    const consume = async (from: typeof app): Promise<number> =>
      (await from.anonymous('GET', '/api/v1/orgs/me', { token })).status
    for (let count = 0; count < 50; count++) expect(await consume(app)).toBe(200)
    clock.advance(7)
    const second = await startApp({ sharesDatabaseWith: app, clock })
    const statuses = await Promise.all(Array.from({ length: 120 }, (_, index) => consume(index % 2 ? app : second)))
    expect(statuses.filter((status) => status === 200)).toHaveLength(77)
    expect(statuses.filter((status) => status === 429)).toHaveLength(43)
    await second.stop()
    expect(await consume(app)).toBe(429)
    clock.advance(1)
    expect(await consume(app)).toBe(200)
    expect(await consume(app)).toBe(429)
  })
})

describe('The rate limit of a process that receives no events when a second process starts', () => {
  const behindProxy = useAppBehindProxy(clock)

  it('is exact over both processes once it receives events again', async () => {
    const { app, proxy } = behindProxy
    const token = await (await app.newOrg()).client('assets:read').token()
    const consume = async (from: typeof app): Promise<number> =>
      (await from.anonymous('GET', '/api/v1/orgs/me', { token })).status
    for (let count = 0; count < 50; count++) expect(await consume(app)).toBe(200)
    proxy.refuse('lastseen pubsub')
    const second = await startApp({ sharesDatabaseWith: app, clock })
    proxy.refuse(null)
    await eventually(async () => expect(await database(app)`select from rate_buckets`).not.toHaveLength(0))
    const statuses = await Promise.all(Array.from({ length: 120 }, (_, index) => consume(index % 2 ? app : second)))
    expect(statuses.filter((status) => status === 200)).toHaveLength(70)
    await second.stop()
  })
})
