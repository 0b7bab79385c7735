import { beforeAll, describe, expect, it } from 'vitest'
import {
  type SiteLocation,
  Site,
  type SiteAsset,
  database,
  expectApiError,
  useTracking,
} from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`

let site: Site
let [dock, hall, yard] = [] as unknown as [SiteLocation, SiteLocation, SiteLocation]
let [pallet, crate] = [] as unknown as [SiteAsset, SiteAsset]

const locationEvents = async (location: SiteLocation, query?: Record<string, string | number>) => {
  const reply = await site.api.get(`/api/v1/locations/${location.id}/history`, query)
  expect(reply.status).toBe(200)
  return reply.json
}

const proxy = (event: string, clock: string, asset: SiteAsset, location: SiteLocation, other: SiteLocation | null) => ({
  event,
  occurred_at: at(clock),
  asset_id: asset.id,
  asset_external_key: asset.key,
  location_id: location.id,
  location_name: location.name,
  other_location_id: other?.id ?? null,
  other_location_name: other?.name ?? null,
})

beforeAll(async () => {
  site = await Site.open(context.app, 'Dock', 'Hall', 'Yard')
  ;[dock, hall, yard] = site.locations as [SiteLocation, SiteLocation, SiteLocation]
  pallet = await site.createAsset('Pallet')
  crate = await site.createAsset('Crate')
  await site.sendReads(
    { tag: pallet.tag, antenna: 1, observed_at: at('10:00:00') },
    { tag: pallet.tag, antenna: 1, observed_at: at('10:05:00') },
    { tag: pallet.tag, antenna: 2, observed_at: at('10:10:00') },
    { tag: pallet.tag, antenna: 3, observed_at: at('10:20:00') },
    { tag: crate.tag, antenna: 2, observed_at: at('10:15:00') },
  )
})

describe('arrivals and departures of a location', () => {
  it('are listed newest first, with origin and destination', async () => {
    expect(await locationEvents(hall)).toEqual({
      data: [
        proxy('departure', '10:20:00.000', pallet, hall, yard),
        proxy('arrival', '10:15:00.000', crate, hall, null),
        proxy('arrival', '10:10:00.000', pallet, hall, dock),
      ],
      limit: 50,
      offset: 0,
      total_count: 3,
    })
  })

  it('include one arrival per stay, however often the asset is rescanned', async () => {
    expect((await locationEvents(dock)).data).toEqual([
      proxy('departure', '10:10:00.000', pallet, dock, hall),
      proxy('arrival', '10:00:00.000', pallet, dock, null),
    ])
  })

  it.each([
    ['from, which is inclusive', { from: at('10:15:00') }, ['10:20', '10:15']],
    ['from a millisecond later', { from: at('10:15:00.001') }, ['10:20']],
    ['to, which is inclusive', { to: at('10:15:00') }, ['10:15', '10:10']],
    ['to a millisecond earlier', { to: at('10:14:59.999') }, ['10:10']],
    ['both', { from: at('10:11:00'), to: at('10:19:00') }, ['10:15']],
    ['nothing', { from: at('11:00:00') }, []],
  ])('accepts %s', async (_, query, expected) => {
    const page = await locationEvents(hall, query)
    expect(page.data.map((one: { occurred_at: string }) => one.occurred_at.slice(11, 16))).toEqual(expected)
    expect(page.total_count).toBe(expected.length)
  })

  it('appear once over all pages', async () => {
    const pages = [await locationEvents(hall, { limit: 2 }), await locationEvents(hall, { limit: 2, offset: 2 })]
    expect(pages.map((page) => page.total_count)).toEqual([3, 3])
    expect(pages.flatMap((page) => page.data)).toEqual((await locationEvents(hall)).data)
    expect(await locationEvents(hall, { offset: 3 })).toMatchObject({ data: [], total_count: 3 })
  })

  it('keep the other location’s name at the time of the move', async () => {
    const other = await Site.open(context.app, 'Bay', 'Gate')
    const box = await other.createAsset('Box')
    await other.sendReads(
      { tag: box.tag, antenna: 1, observed_at: at('10:00:00') },
      { tag: box.tag, antenna: 2, observed_at: at('10:01:00') },
    )
    await other.api.patch(`/api/v1/locations/${other.locations[0]!.id}`, { name: 'Bay renamed' })
    const reply = await other.api.get(`/api/v1/locations/${other.locations[1]!.id}/history`)
    expect(reply.json.data).toMatchObject([{ event: 'arrival', other_location_name: 'Bay' }])
  })

  it('include those of all descendants on request; moves within the subtree are neither', async () => {
    const other = await Site.open(context.app, 'Bay', 'Gate', 'Road')
    const [bay, gate, road] = other.locations as [SiteLocation, SiteLocation, SiteLocation]
    const zone = await other.createLocation('Zone')
    await other.api.patch(`/api/v1/locations/${bay.id}`, { parent_id: zone.id })
    await other.api.patch(`/api/v1/locations/${gate.id}`, { parent_id: bay.id })
    const box = await other.createAsset('Box')
    await other.sendReads(
      ...[1, 2, 3, 2].map((antenna, index) => ({ tag: box.tag, antenna, observed_at: at(`10:0${index}:00`) })),
    )
    const eventsOf = async (location: SiteLocation, more: object = {}) =>
      (await other.api.get(`/api/v1/locations/${location.id}/history`, { ...more })).json
    expect(await eventsOf(zone)).toMatchObject({ data: [], total_count: 0 })
    const whole = [
      proxy('arrival', '10:03:00.000', box, gate, road),
      proxy('departure', '10:02:00.000', box, gate, road),
      proxy('arrival', '10:00:00.000', box, bay, null),
    ]
    for (const location of [zone, bay])
      expect(await eventsOf(location, { include_descendants: true })).toMatchObject({ data: whole, total_count: 3 })
    expect(await eventsOf(zone, { include_descendants: true, limit: 1, offset: 1 })).toMatchObject({ data: [whole[1]] })
    expect((await eventsOf(bay)).data).toEqual([
      proxy('departure', '10:01:00.000', box, bay, gate),
      proxy('arrival', '10:00:00.000', box, bay, null),
    ])
  })

  it('are empty for a location that no asset ever reached', async () => {
    const attic = await site.createLocation('Attic')
    expect(await locationEvents(attic)).toEqual({ data: [], limit: 50, offset: 0, total_count: 0 })
  })
})

describe('access to the arrivals and departures of a location', () => {
  it.each(['tracking:read', 'scans:read'])('is granted to a token with %s', async (scope) => {
    const reply = await site.org.client(scope).get(`/api/v1/locations/${hall.id}/history`)
    expect([reply.status, reply.json.total_count]).toEqual([200, 3])
  })

  it('requires tracking:read', async () => {
    const reply = await site.org.client('locations:read', 'assets:read').get(`/api/v1/locations/${hall.id}/history`)
    expectApiError(reply, 403, 'forbidden')
    expect(reply.json.error.detail).toBe('Missing required scope: tracking:read')
  })

  it('rejects a request without a token', async () => {
    expectApiError(await context.app.anonymous('GET', `/api/v1/locations/${hall.id}/history`), 401, 'unauthorized')
  })

  it('is 403 for a location of another organization (D24)', async () => {
    const outsider = await context.app.newOrg()
    expectApiError(await outsider.full.get(`/api/v1/locations/${hall.id}/history`), 403, 'forbidden')
  })

  it('is 404 for a deleted location or an unknown id (D24)', async () => {
    const attic = await site.createLocation('Loft')
    await database(context.app)`update locations set deleted_at = now() where id = ${attic.id}`
    for (const id of [attic.id, 5, pallet.id])
      expectApiError(await site.api.get(`/api/v1/locations/${id}/history`), 404, 'not_found')
  })

  it.each([
    ['from=x', 'from', 'invalid_value'],
    ['to=2026-05-04', 'to', 'invalid_value'],
    ['sort=occurred_at', 'sort', 'unknown_field'],
    ['q=x', 'q', 'unknown_field'],
  ])('rejects ?%s', async (query, field, code) => {
    const reply = await site.api.get(`/api/v1/locations/${hall.id}/history`, query)
    expectApiError(reply, 400, 'validation_error', [{ field, code }])
  })

  it('rejects an invalid id', async () => {
    expectApiError(await site.api.get('/api/v1/locations/0/history'), 400, 'validation_error', [
      { field: 'location_id', code: 'too_small', params: { min: 1 } },
    ])
  })
})
