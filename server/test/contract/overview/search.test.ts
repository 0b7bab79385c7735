import { beforeAll, describe, expect, it } from 'vitest'
import { type SiteLocation, Site, type SiteAsset, expectApiError, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

let site: Site
let token: string
let dock: SiteLocation
let pallet: SiteAsset

beforeAll(async () => {
  site = await Site.open(context.app, 'Dock')
  dock = site.locations[0]!
  token = (await site.org.signIn('viewer')).accessToken
  const tags = [
    { tag_type: 'rfid', value: 'E280AA01' },
    { tag_type: 'ble', value: 'AC:23:3F:00:00:01' },
    { tag_type: 'barcode', value: 'Box-1' },
  ]
  pallet = await site.createAsset('Pallet', { tags })
  await site.createAsset('Palette', { external_key: 'COLOURS', description: '100%_pure' })
  await site.createAsset('Spare', { external_key: 'old pallet' })
  await site.createLocation('Pallet store', { external_key: 'STORE', tags: [{ tag_type: 'barcode', value: 'LOC-77' }] })
  await site.createAsset('Clash', { external_key: 'Box-1' })
  await site.createAsset('Both', { external_key: 'DOCK' })
  await site.recordSighting(dock, [pallet], '2026-05-04T10:00:00Z')
})

const search = async (query: Record<string, string | number>) => {
  const reply = await context.app.anonymous('GET', '/api/v1/search', { token, query })
  expect(reply.status, reply.text).toBe(200)
  return reply.json.data
}
const names = (rows: { name: string }[]): string[] => rows.map((row) => row.name)

describe('GET /search', () => {
  it('ranks matches at the start before matches inside a text, ignoring case', async () => {
    const found = await search({ q: 'pAllet' })
    expect(names(found.assets)).toEqual(['Pallet', 'Spare'])
    expect(names(found.locations)).toEqual(['Pallet store'])
    expect(found.locations[0]).toEqual({ id: expect.any(Number), external_key: 'STORE', name: 'Pallet store' })
  })

  it('states where and when each asset was last seen, also for an asset found by its tag', async () => {
    const found = await search({ q: 'pallet' })
    const asset = { id: pallet.id, external_key: 'PALLET', name: 'Pallet' }
    const seen = { location_id: dock.id, location_name: 'Dock', last_seen_at: '2026-05-04T10:00:00.000Z' }
    expect(found.assets).toEqual([
      { ...asset, ...seen },
      {
        id: expect.any(Number),
        external_key: 'old pallet',
        name: 'Spare',
        location_id: null,
        location_name: null,
        last_seen_at: null,
      },
    ])
    expect((await search({ q: 'e280aa' })).tags).toMatchObject([
      { last_seen_location: 'Dock', last_seen_at: '2026-05-04T10:00:00.000Z' },
    ])
  })

  it('finds the organization’s readers by any part of their name, those that start with it first', async () => {
    const other = await Site.open(context.app, 'Elsewhere')
    for (const [org, name] of [
      [site.org, 'North Gate'],
      [site.org, 'Gate 100%'],
      [other.org, 'Gate of another organization'],
    ] as const) {
      const { accessToken } = await org.signIn('manager')
      const reply = await context.app.anonymous('POST', '/api/v1/readers', { token: accessToken, json: { name } })
      expect(reply.status, reply.text).toBe(201)
    }
    const { readers } = await search({ q: 'gATE' })
    expect(readers).toEqual([
      { id: expect.any(Number), name: 'Gate', last_seen_at: null },
      { id: expect.any(Number), name: 'Gate 100%', last_seen_at: null },
      { id: expect.any(Number), name: 'North Gate', last_seen_at: null },
    ])
    expect(names((await search({ q: '0%' })).readers)).toEqual(['Gate 100%'])
    expect((await search({ q: 'gate', limit: 1 })).readers.length).toBe(1)
  })

  it('finds prefixes of one letter or more', async () => {
    expect(names((await search({ q: 'p' })).assets).sort()).toEqual(['Palette', 'Pallet'])
    expect(names((await search({ q: 'co' })).assets)).toEqual(['Palette'])
    expect(names((await search({ q: 'le' })).assets)).toEqual([])
  })

  it('treats % and _ as ordinary characters', async () => {
    expect(names((await search({ q: '0%_p' })).assets)).toEqual(['Palette'])
    expect((await search({ q: 'p%t' })).assets).toEqual([])
  })

  it.each([
    ['an RFID value', 'e280aa', 'E280AA01'],
    ['a Bluetooth address with or without its colons', 'AC233f', 'AC:23:3F:00:00:01'],
    ['a barcode exactly as printed', 'Box', 'Box-1'],
  ])('finds %s by its prefix, with the record it is attached to', async (_what, q, value) => {
    const { tags } = await search({ q })
    expect(tags).toEqual([
      {
        id: expect.any(Number),
        tag_type: expect.any(String),
        value,
        asset_id: pallet.id,
        location_id: null,
        owner_key: 'PALLET',
        owner_name: 'Pallet',
        last_seen_location: 'Dock',
        last_seen_at: '2026-05-04T10:00:00.000Z',
      },
    ])
  })

  it('finds tags of locations', async () => {
    expect((await search({ q: 'LOC-7' })).tags).toMatchObject([{ location_id: expect.any(Number), owner_key: 'STORE' }])
  })

  it('returns at most `limit` results of each kind, eight by default', async () => {
    expect((await search({ q: 'pal', limit: 1 })).assets.length).toBe(1)
    for (let n = 0; n < 9; n++)
      await site.createAsset(`Barrel ${n}`, { tags: [{ tag_type: 'barcode', value: `BRL${n}` }] })
    const found = await search({ q: 'barrel' })
    expect(names(found.assets)).toEqual(Array.from({ length: 8 }, (_, n) => `Barrel ${n}`))
    expect((await search({ q: 'BRL' })).tags.length).toBe(8)
  })

  it('with an empty query finds nothing', async () => {
    for (const query of [{}, { q: '' }, { q: ':' }, { q: 'no such thing' }])
      expect(await search(query)).toEqual({ assets: [], locations: [], readers: [], tags: [] })
  })

  it('rejects a limit of 51', async () => {
    const reply = await context.app.anonymous('GET', '/api/v1/search', { token, query: { q: 'a', limit: 51 } })
    expectApiError(reply, 400, 'validation_error', [{ field: 'limit', code: 'too_large', params: { max: 50 } }])
  })
})

describe('POST /codes/resolve', () => {
  const resolve = (codes: unknown) => context.app.anonymous('POST', '/api/v1/codes/resolve', { token, json: { codes } })
  const nothing = { kind: null, id: null, external_key: null, name: null }
  const nowhere = { location_id: null, location_name: null, last_seen_at: null }

  it('returns the record of each code in the same order, and where the asset is', async () => {
    const reply = await resolve(['e280AA01', 'LOC-77', 'nothing', 'COLOURS', 'e280AA01'])
    const here = { location_id: dock.id, location_name: 'Dock', last_seen_at: '2026-05-04T10:00:00.000Z' }
    const asset = { kind: 'asset', id: pallet.id, external_key: 'PALLET', name: 'Pallet', ...here }
    expect([reply.status, reply.json.data]).toEqual([
      200,
      [
        { code: 'e280AA01', ...asset },
        {
          code: 'LOC-77',
          kind: 'location',
          id: expect.any(Number),
          external_key: 'STORE',
          name: 'Pallet store',
          ...nowhere,
        },
        { code: 'nothing', ...nothing, ...nowhere },
        {
          code: 'COLOURS',
          kind: 'asset',
          id: expect.any(Number),
          external_key: 'COLOURS',
          name: 'Palette',
          ...nowhere,
        },
        { code: 'e280AA01', ...asset },
      ],
    ])
  })

  it('prefers a tag to a key, and an asset’s key to a location’s', async () => {
    const { data } = (await resolve(['Box-1', 'DOCK', 'STORE', 'ac233f000001'])).json
    expect(data.map((one: { kind: string; name: string }) => [one.kind, one.name])).toEqual([
      ['asset', 'Pallet'],
      ['asset', 'Both'],
      ['location', 'Pallet store'],
      ['asset', 'Pallet'],
    ])
  })

  it('accepts at most a thousand codes', async () => {
    const codes = Array.from({ length: 1001 }, (_, n) => `code ${n}`)
    expect((await resolve(codes.slice(1))).json.data.length).toBe(1000)
    expect((await resolve([])).json.data).toEqual([])
    expectApiError(await resolve(codes), 400, 'validation_error', [
      { field: 'codes', code: 'too_long', params: { max_length: 1000 } },
    ])
    expectApiError(await resolve(['']), 400, 'validation_error', [
      { field: 'codes[0]', code: 'too_short', params: { min_length: 1 } },
    ])
  })
})
