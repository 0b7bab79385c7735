import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type TestApp, startApp, useApp } from '../../support/app.ts'
import { EventStream } from '../../support/event-stream.ts'
import { Site, type SiteAsset, closeDatabase, database, eventually, expectApiError } from '../../support/tracking.ts'

const context = useApp()
let second: TestApp
const open: EventStream[] = []

beforeAll(async () => {
  second = await startApp({ sharesDatabaseWith: context.app, isOneOfSeveral: true })
})
afterEach(() => {
  for (const stream of open.splice(0)) stream.close()
})
afterAll(async () => {
  await closeDatabase(context.app)
  await second.stop()
})

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString()

const sessions = new Map<Site, Promise<string>>()

/** A user of the organization; a session consumes no rate-limit tokens. */
function session(site: Site): Promise<string> {
  const known = sessions.get(site) ?? site.org.signIn('viewer').then(({ accessToken }) => accessToken)
  sessions.set(site, known)
  return known
}

async function watch(site: Site, app = context.app, lastEventId?: string): Promise<EventStream> {
  const options = lastEventId === undefined ? {} : { lastEventId }
  const stream = await EventStream.open(app, await session(site), options)
  open.push(stream)
  expect(stream.status).toBe(200)
  return stream
}

/** Waits long enough for any event in flight. */
const waitForEventsInFlight = (): Promise<void> => new Promise((resume) => setTimeout(resume, 500))

describe('the live stream', () => {
  it('is a stream of server-sent events that must not be cached', async () => {
    const site = await Site.open(context.app)
    const stream = await EventStream.open(context.app, await site.api.token())
    open.push(stream)
    expect(stream.status).toBe(200)
    expect(stream.headers['content-type']).toBe('text/event-stream')
    expect(stream.headers['cache-control']).toBe('private, no-store')
    expect(stream.headers['x-request-id']).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
    expect(stream.headers['x-ratelimit-limit']).toBe('120')
  })

  it('sends each move once, with its names', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const [dock, hall] = site.locations
    const pallet = await site.createAsset('Pallet')
    const stream = await watch(site)
    const timestamps = [ago(10), ago(9)]
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: timestamps[0]! })
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: timestamps[1]! })
    await eventually(async () => expect(stream.of('move')).toHaveLength(2))
    const asset = { id: pallet.id, external_key: 'PALLET', name: 'Pallet' }
    const rows = await database(
      context.app,
    )`select delivery_id from moves where org_id = ${site.org.orgId} order by occurred_at`
    const [first, last] = rows.map((row) => row['delivery_id'] as string)
    const location = ({ id, name }: { id: number; name: string }) => ({ id, name })
    expect(stream.of('move')).toEqual([
      {
        event: 'move',
        id: expect.stringMatching(new RegExp(`^\\d{13}\\.${first}$`)),
        data: {
          delivery_id: first,
          occurred_at: timestamps[0],
          asset,
          from_location: null,
          to_location: location(dock!),
        },
      },
      {
        event: 'move',
        id: expect.stringMatching(new RegExp(`^\\d{13}\\.${last}$`)),
        data: {
          delivery_id: last,
          occurred_at: timestamps[1],
          asset,
          from_location: location(dock!),
          to_location: location(hall!),
        },
      },
    ])
    await waitForEventsInFlight()
    expect(stream.of('move')).toHaveLength(2)
  })

  it('sends nothing for rescans, late reads and scans without a location', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: ago(10) })
    const stream = await watch(site)
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: ago(8) })
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: ago(20) })
    await site.sendReads({ tag: pallet.tag, antenna: 9, observed_at: ago(7) })
    await waitForEventsInFlight()
    expect(stream.of('move')).toEqual([])
  })

  it('sends moves from the time of the subscription on, and no earlier ones', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: ago(10) })
    await new Promise((resume) => setTimeout(resume, 20))
    const stream = await watch(site)
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: ago(9) })
    await eventually(async () => expect(stream.of('move')).toHaveLength(1))
    expect(stream.of('move')[0]!.data).toMatchObject({ from_location: { name: 'Dock' }, to_location: { name: 'Hall' } })
  })

  /** Inserts moves that were recorded some seconds ago, as a transaction does that ends late. Nothing announces them. */
  const insertMoves = (site: Site, name: string, count: number, secondsAgo: number) =>
    database(context.app)`
      insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, to_location_id,
        to_location_name, occurred_at, recorded_at)
      select ${site.org.orgId}, gen_random_uuid(), 1, 'A', 'a', 2, ${name}, now(), now() - make_interval(secs => ${secondsAgo})
      from generate_series(1, ${count}::int)`
  const destinations = (stream: EventStream): string[] => stream.of('move').map((one) => one.data.to_location.name)

  describe('sends moves that are committed later than moves that were recorded after them', () => {
    it('when the stream was opened in between', async () => {
      const site = await Site.open(context.app, 'Dock')
      const pallet = await site.createAsset('Pallet')
      await insertMoves(site, 'Earlier', 1, 2)
      const stream = await watch(site)
      await insertMoves(site, 'Late', 1, 1)
      await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: ago(10) })
      await eventually(async () => expect(destinations(stream)).toEqual(['Late', 'Dock']))
    })

    it('when hundreds of moves were sent meanwhile, and sends none of those again', async () => {
      const site = await Site.open(context.app, 'Dock', 'Hall')
      const pallet = await site.createAsset('Pallet')
      const stream = await watch(site)
      await insertMoves(site, 'Early', 300, 1)
      await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: ago(10) })
      await eventually(async () => expect(destinations(stream)).toHaveLength(301))
      await insertMoves(site, 'Early', 300, 1)
      await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: ago(9) })
      await eventually(async () => expect(destinations(stream)).toHaveLength(602))
      await insertMoves(site, 'Late', 1, 3)
      await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: ago(8) })
      await eventually(async () => expect(destinations(stream).slice(602)).toEqual(['Late', 'Dock']))
      expect(stream.of('gap')).toEqual([])
    })
  })

  it('sends only new moves in an organization with thousands in the last seconds', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    await insertMoves(site, 'Earlier', 2500, 2)
    const stream = await watch(site)
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: ago(10) })
    await eventually(async () => expect(destinations(stream)).toEqual(['Dock']))
    expect(stream.of('gap')).toEqual([])
  })

  it('sends a gap and the latest moves when more than 500 happen at the same time', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    const stream = await watch(site)
    await insertMoves(site, 'Many', 600, 0)
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: ago(10) })
    await eventually(async () => expect(stream.of('move')).toHaveLength(500))
    expect(stream.of('move').at(-1)!.data.to_location.name).toBe('Dock')
    expect(stream.of('gap')).toHaveLength(1)
  })

  it('sends an organization only its own moves', async () => {
    const [mine, theirs] = [await Site.open(context.app, 'Dock'), await Site.open(context.app, 'Bay')]
    const [pallet, crate] = [await mine.createAsset('Pallet'), await theirs.createAsset('Crate')]
    const [here, there] = [await watch(mine), await watch(theirs)]
    await theirs.sendReads({ tag: crate.tag, observed_at: ago(10) })
    await mine.sendReads({ tag: pallet.tag, observed_at: ago(10) })
    await eventually(async () => expect([here.of('move').length, there.of('move').length]).toEqual([1, 1]))
    await waitForEventsInFlight()
    expect(here.of('move').map((one) => one.data.asset.name)).toEqual(['Pallet'])
    expect(there.of('move').map((one) => one.data.asset.name)).toEqual(['Crate'])
  })

  it('sends moves whose reads another process ingested', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    const [here, there] = [await watch(site), await watch(site, second)]
    for (const [antenna, app] of [
      [1, second],
      [2, context.app],
    ] as const)
      expect(
        (await site.post([{ tag: pallet.tag, antenna, observed_at: ago(10 - antenna) }], site.token, app)).status,
      ).toBe(202)
    for (const stream of [here, there]) {
      await eventually(async () => expect(stream.of('move')).toHaveLength(2))
      expect(new Set(stream.of('move').map((one) => one.data.to_location.name))).toEqual(new Set(['Dock', 'Hall']))
    }
  })

  it('sends every move once to every subscriber when many happen at once', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const assets: SiteAsset[] = []
    for (let number = 0; number < 20; number++) assets.push(await site.createAsset(`T${number}`))
    const streams = [await watch(site), await watch(site), await watch(site, second)]
    for (let step = 0; step < 6; step++)
      await Promise.all(
        [context.app, second].map(async (app, half) => {
          const reads = assets
            .filter((_, index) => index % 2 === half)
            .map((thing) => ({ tag: thing.tag, antenna: (step % 2) + 1, observed_at: ago(60 - step) }))
          expect((await site.post({ reads }, site.token, app)).status).toBe(202)
        }),
      )
    const rows = await database(context.app)`select delivery_id from moves where org_id = ${site.org.orgId}`
    const all = rows.map((row) => row['delivery_id'] as string).toSorted()
    expect(all).toHaveLength(120)
    for (const stream of streams)
      await eventually(async () =>
        expect(
          stream
            .of('move')
            .map((one) => one.data.delivery_id)
            .toSorted(),
        ).toEqual(all),
      )
    await waitForEventsInFlight()
    for (const stream of streams) expect(stream.of('move')).toHaveLength(120)
  })

  it('sends reader activity in every process', async () => {
    const site = await Site.open(context.app, 'Dock')
    const streams = [await watch(site), await watch(site, second)]
    const outsider = await watch(await Site.open(context.app))
    expect((await site.post([])).status).toBe(202)
    for (const stream of streams)
      await eventually(async () =>
        expect(stream.of('readers')[0]).toEqual({ event: 'readers', id: undefined, data: {} }),
      )
    expect(outsider.of('readers')).toEqual([])
  })

  it('removes a subscriber that disconnects, and keeps serving the others', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    const [leaving, staying] = [await watch(site), await watch(site)]
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: ago(10) })
    await eventually(async () => expect(leaving.of('move')).toHaveLength(1))
    leaving.close()
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: ago(9) })
    await eventually(async () => expect(staying.of('move')).toHaveLength(2))
    const again = await watch(site)
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: ago(8) })
    await eventually(async () => expect([staying.of('move').length, again.of('move').length]).toEqual([3, 1]))
  })

  it('sends a keep-alive comment every fifteen seconds', async () => {
    const site = await Site.open(context.app)
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const stream = await watch(site)
      expect(stream.comments).toHaveLength(1)
      for (const count of [2, 3]) {
        vi.advanceTimersByTime(15_000)
        await eventually(async () => expect(stream.comments).toHaveLength(count))
      }
      expect(stream.events).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('a live stream whose process lost its notification connection', () => {
  it('sends a gap event and the missed moves', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    const stream = await watch(site, second)
    await database(context.app)`
      select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen %'`
    expect((await site.post([{ tag: pallet.tag, antenna: 1, observed_at: ago(10) }])).status).toBe(202)
    await eventually(async () => {
      expect(stream.of('gap').length).toBeGreaterThan(0)
      expect(stream.of('move')).toHaveLength(1)
    })
  })
})

describe('a live stream with Last-Event-ID', () => {
  const move = (site: Site, asset: SiteAsset, antenna: number, minutesAgo: number) =>
    site.sendReads({ tag: asset.tag, antenna, observed_at: ago(minutesAgo) })
  const destinations = (stream: EventStream): string[] => stream.of('move').map((one) => one.data.to_location.name)
  const ids = (stream: EventStream): string[] => stream.of('move').map((one) => one.data.delivery_id)

  it('sends the moves since that event, oldest first, then the moves that follow', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    const before = await watch(site)
    await move(site, pallet, 1, 10)
    await eventually(async () => expect(before.of('move')).toHaveLength(1))
    before.close()
    await move(site, pallet, 2, 9)
    await move(site, pallet, 1, 8)
    const after = await watch(site, second, before.of('move')[0]!.id!)
    await eventually(async () => expect(destinations(after)).toEqual(['Hall', 'Dock']))
    await move(site, pallet, 2, 7)
    await eventually(async () => expect(destinations(after)).toEqual(['Hall', 'Dock', 'Hall']))
    await waitForEventsInFlight()
    expect(new Set(ids(after)).size).toBe(3)
    expect(after.of('gap')).toEqual([])
  })

  it('resumes from its opening when it has had no event, because the opening has an id', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    const before = await watch(site)
    await eventually(async () => expect(before.lastId).toMatch(/^\d{13}\./))
    before.close()
    await move(site, pallet, 1, 10)
    const after = await watch(site, context.app, before.lastId)
    await eventually(async () => expect(destinations(after)).toEqual(['Dock']))
    await eventually(async () => expect(after.lastId).not.toBe(after.of('move')[0]!.id))
  })

  it('sends every one of thousands of moves once, no faster than the client reads', async () => {
    const site = await Site.open(context.app, 'Dock')
    await database(context.app)`
      insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, to_location_id, to_location_name,
        occurred_at, recorded_at)
      select ${site.org.orgId}, gen_random_uuid(), 1, 'A', 'a', 2, 'l', now(), now() from generate_series(1, 3000) n`
    const stream = await watch(site, context.app, `${Date.now() - 60_000}.00000000-0000-4000-8000-000000000000`)
    await eventually(async () => expect(ids(stream)).toHaveLength(3000))
    expect(new Set(ids(stream)).size).toBe(3000)
    expect(stream.of('gap')).toEqual([])
  })

  it.each([
    ['is not an id of the stream', () => 'yesterday'],
    ['is older than a day', () => `${Date.now() - 86_401_000}.00000000-0000-4000-8000-000000000000`],
  ])('that %s sends a gap and the moves that follow', async (_what, lastId) => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await move(site, pallet, 1, 10)
    await new Promise((resume) => setTimeout(resume, 20))
    const stream = await watch(site, context.app, lastId())
    await eventually(async () => expect(stream.of('gap')).toHaveLength(1))
    await move(site, pallet, 2, 9)
    await eventually(async () => expect(destinations(stream)).toEqual(['Hall']))
  })

  it('sends a gap instead of more than 10,000 moves', async () => {
    const site = await Site.open(context.app, 'Dock')
    await database(context.app)`
      insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, to_location_id, to_location_name,
        occurred_at, recorded_at)
      select ${site.org.orgId}, gen_random_uuid(), 1, 'A', 'a', 2, 'l', now(), now() from generate_series(1, 10001) n`
    const stream = await watch(site, context.app, `${Date.now() - 60_000}.00000000-0000-4000-8000-000000000000`)
    await eventually(async () => expect(stream.of('gap')).toHaveLength(1))
    await waitForEventsInFlight()
    expect(stream.of('move')).toEqual([])
  })
})

describe('access to the live stream', () => {
  const path = '/api/v1/live'

  it.each(['viewer', 'operator', 'manager', 'admin'] as const)('is granted to a session of a %s', async (role) => {
    const site = await Site.open(context.app)
    const stream = await EventStream.open(context.app, (await site.org.signIn(role)).accessToken)
    open.push(stream)
    expect([stream.status, stream.comments.length]).toEqual([200, 1])
  })

  it('is denied without a token, with an invalid token, and with a token in the URL', async () => {
    const site = await Site.open(context.app)
    expectApiError(await context.app.anonymous('GET', path), 401, 'unauthorized')
    expectApiError(await context.app.anonymous('GET', path, { token: 'x' }), 401, 'unauthorized')
    expectApiError(await context.app.anonymous('GET', path, { token: site.token }), 401, 'unauthorized')
    const query = { access_token: await site.api.token() }
    expectApiError(await context.app.anonymous('GET', path, { query }), 401, 'unauthorized')
  })

  it('requires tracking:read', async () => {
    const org = await context.app.newOrg()
    const reply = await org.client('assets:read', 'locations:read').get(path)
    expectApiError(reply, 403, 'forbidden')
    expect(reply.json.error.detail).toBe('Missing required scope: tracking:read')
  })

  it('accepts no parameters', async () => {
    const org = await context.app.newOrg()
    const reply = await org.client('tracking:read').get(path, { colour: 'red' })
    expectApiError(reply, 400, 'validation_error', [{ field: 'colour', code: 'unknown_field' }])
  })
})

describe('the live stream of either base', () => {
  it.each(['/api/v1', '/natural/api/v1'])('%s/live answers as every operation does', async (base) => {
    const org = await context.app.newOrg()
    const token = await org.client('tracking:read').token()
    for (let count = 0; count < 10; count++) {
      const stream = await EventStream.open(context.app, token, { base })
      open.push(stream)
      expect([stream.status, stream.comments.length]).toEqual([200, 1])
    }
    const ask = (token: string, query = {}) => context.app.anonymous('GET', `${base}/live`, { token, query })
    expect((await org.client('tracking:read').send('HEAD', `${base}/live`)).status).toBe(200)
    expectApiError(await ask('x'), 401, 'unauthorized')
    expectApiError(await ask(token), 429, 'rate_limited')
    expectApiError(await ask(await org.client('assets:read').token()), 403, 'forbidden')
    expectApiError(await ask(await org.client('tracking:read').token(), { q: 'x' }), 400, 'validation_error', [
      { field: 'q', code: 'invalid_context' },
    ])
  })
})

describe('a server that stops', () => {
  it('does not wait for open live streams', async () => {
    const third = await startApp({ sharesDatabaseWith: context.app, isOneOfSeveral: true })
    const site = await Site.open(context.app)
    const stream = await EventStream.open(third, await session(site))
    open.push(stream)
    const start = Date.now()
    await third.stop()
    expect(Date.now() - start).toBeLessThan(5000)
    await eventually(async () => expect(stream.isOver).toBe(true))
  })
})
