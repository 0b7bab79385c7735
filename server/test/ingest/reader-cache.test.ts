import { afterAll, describe, expect, it } from 'vitest'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { ReaderCache } from '../../src/ingest/reader-cache.ts'
import { useApp } from '../support/app.ts'
import { lockWaits } from '../support/database.ts'
import { Site, closeDatabase, database, eventually } from '../support/tracking.ts'

const statements: string[] = []
const context = useApp({
  onStatement: (text) => statements.push(text),
  singleServerReason: 'the test counts the statements of one server',
})
afterAll(() => closeDatabase(context.app))
const lookups = (): number => statements.filter((text) => text.includes('reader_directory')).length
const wellFormed = (index: number): string => `lsd_${String(index).padStart(48, '0')}`

const newCache = (anonymousQueue = new FairQueue({ maxInFlight: 4 })): ReaderCache => {
  const { db, clock, ids } = context.app.context
  return new ReaderCache({
    ...{ db: db.authentication, clock, anonymousQueue },
    pubsub: { isConnected: () => true },
    ownerOf: (id) => ids.ownerOf(id),
  })
}

describe('A change of one reader', () => {
  it('leaves the readers of other tenants cached, and its own reader is loaded again', async () => {
    const [site, other] = [await Site.open(context.app, 'Dock'), await Site.open(context.app, 'Dock')]
    const cache = newCache()
    const load = () => Promise.all([site, other].map(({ token }) => cache.byToken(token, '192.0.2.1')))
    await load()
    cache.invalidate(site.readerId)
    const before = lookups()
    expect((await load()).map((device) => device?.readerId)).toEqual([site.readerId, other.readerId])
    expect(lookups() - before).toBe(1)
    cache.invalidateAll()
    await load()
    expect(lookups() - before).toBe(3)
  })

  it('does not start over the queries for other readers that are in flight, but its own', async () => {
    const [site, other] = [await Site.open(context.app, 'Dock'), await Site.open(context.app, 'Dock')]
    const cache = newCache()
    const lock = await database(context.app).reserve()
    await lock`begin`
    await lock`lock table reader_directory`
    const before = lookups()
    const loading = [site, other].map(({ token }) => cache.byToken(token, '192.0.2.1'))
    await eventually(async () => expect(await lockWaits(context.app.databaseUrl)).toBe(1))
    cache.invalidate(site.readerId)
    await lock`rollback`
    lock.release()
    expect((await Promise.all(loading)).map((device) => device?.readerId)).toEqual([site.readerId, other.readerId])
    expect(lookups() - before).toBe(3)
  })
})

describe('A token that belongs to no reader', () => {
  it.each(['', 'nonsense', 'lsd_short', `lsd_${'0'.repeat(49)}`, `ls_${'0'.repeat(64)}`])(
    'needs no statement when it cannot be one of a reader: %s',
    async (token) => {
      const before = lookups()
      const reply = await context.app.anonymous('POST', '/ingest/v1/reads/' + (token || 'x'), { raw: '[]' })
      expect([reply.status, lookups() - before]).toEqual([401, 0])
    },
  )

  it('is looked up in the queue of anonymous requests, so that one address does not occupy all slots', async () => {
    const anonymousQueue = new FairQueue({ maxInFlight: 4 })
    const cache = newCache(anonymousQueue)
    const logins = Array.from({ length: 20 }, (_, index) => cache.loginByToken(wellFormed(index), '192.0.2.1'))
    expect([anonymousQueue.inFlight, anonymousQueue.waiting]).toEqual([3, 17])
    const other = cache.loginByToken(wellFormed(20), '192.0.2.2')
    expect(anonymousQueue.inFlight).toBe(4)
    expect(await Promise.all([...logins, other])).toEqual(Array(21).fill(null))
  })
})
