import { beforeAll, describe, expect, it } from 'vitest'
import { Site, type SiteAsset, expectApiError, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`
const path = '/api/v1/reports/asset-locations'

describe('the order of the report', () => {
  let site: Site
  const assets = new Map<string, SiteAsset>()

  const row = (reply: { json: { data: Record<string, string>[] } }) =>
    reply.json.data.map((one) => [one['asset_external_key'], one['location_external_key'], one['asset_last_seen']])

  beforeAll(async () => {
    site = await Site.open(context.app, 'A-place', 'B-place')
    const reads: { tag: string; antenna: number; observed_at: string }[] = []
    for (const [name, antenna, clock] of [
      ['n1', 1, '10:00:30'],
      ['n2', 2, '10:00:10'],
      ['n3', 1, '10:00:20'],
      ['n4', 2, '10:00:20'],
      ['n5', 2, '10:00:20'],
    ] as const) {
      const asset = await site.createAsset(name)
      assets.set(asset.key, asset)
      reads.push({ tag: asset.tag, antenna, observed_at: at(clock) })
    }
    await site.sendReads(...reads)
  })

  /** Equal rows are ordered by id, ascending or descending. */
  const tied = (...names: string[]): string[] => names.toSorted((a, b) => assets.get(a)!.id - assets.get(b)!.id)

  const order = async (query: Record<string, string | number>): Promise<string[]> => {
    const reply = await site.api.get(path, query)
    expect(reply.status).toBe(200)
    return reply.json.data.map((one: { asset_external_key: string }) => one.asset_external_key)
  }

  it('is by last sighting, latest first, by default', async () => {
    expect(await order({})).toEqual(await order({ sort: '-asset_last_seen' }))
    expect(await order({})).toEqual(['N1', ...tied('N3', 'N4', 'N5'), 'N2'])
  })

  it('can be by last sighting, earliest first', async () => {
    const up = await order({ sort: 'asset_last_seen' })
    expect([up[0], up.slice(1, 4).toSorted(), up[4]]).toEqual(['N2', ['N3', 'N4', 'N5'], 'N1'])
  })

  it.each([
    ['asset_external_key', ['N1', 'N2', 'N3', 'N4', 'N5']],
    ['-asset_external_key', ['N5', 'N4', 'N3', 'N2', 'N1']],
    ['location_external_key,asset_external_key', ['N1', 'N3', 'N2', 'N4', 'N5']],
    ['-location_external_key,asset_external_key', ['N2', 'N4', 'N5', 'N1', 'N3']],
    ['location_external_key,-asset_last_seen,-asset_external_key', ['N1', 'N3', 'N5', 'N4', 'N2']],
    ['asset_last_seen,-asset_external_key', ['N2', 'N5', 'N4', 'N3', 'N1']],
  ])('can be %s, now and at a past instant', async (sort, expected) => {
    expect(await order({ sort })).toEqual(expected)
    expect(await order({ sort, at: at('11:00:00') })).toEqual(expected)
  })

  it('compares keys by code point, capitals before small letters', async () => {
    const other = await Site.open(context.app, 'Dock')
    const names = ['b', 'B', 'a', 'A', 'ä', '10', '9']
    const made = await Promise.all(names.map((name) => other.createAsset(`thing ${name}`, { external_key: name })))
    await other.sendReads(...made.map((asset) => ({ tag: asset.tag, observed_at: at('10:00:00') })))
    const reply = await other.api.get(path, { sort: 'asset_external_key' })
    expect(row(reply).map(([key]) => key)).toEqual(['10', '9', 'A', 'B', 'a', 'b', 'ä'])
  })

  it.each([
    'asset_last_seen',
    '-asset_last_seen',
    'location_external_key',
    '-location_external_key',
    'asset_external_key',
  ])('never repeats or skips a row over the pages of %s (D25)', async (sort) => {
    const whole = await order({ sort })
    for (const filter of [{}, { q: 'n' }] as Record<string, string>[]) {
      const paged: string[] = []
      for (let offset = 0; offset < 6; offset += 2) {
        const reply = await site.api.get(path, { sort, limit: 2, offset, ...filter })
        expect(reply.json).toMatchObject({ limit: 2, offset, total_count: 5 })
        paged.push(...row(reply).map(([key]) => key!))
      }
      expect(paged).toEqual(whole)
    }
  })

  it('answers a page past the end with an empty page and the full total', async () => {
    expect((await site.api.get(path, { offset: 5 })).json).toMatchObject({ data: [], total_count: 5 })
    expect((await site.api.get(path, { offset: 5, q: 'n' })).json).toMatchObject({ data: [], total_count: 5 })
    expect((await site.api.get(path, { offset: '99999999999999999999' })).json).toMatchObject({
      data: [],
      total_count: 5,
    })
  })
})

describe('who may read the report', () => {
  let site: Site

  beforeAll(async () => {
    site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    await site.sendReads({ tag: asset.tag, observed_at: at('10:00:00') })
  })

  it.each(['tracking:read', 'scans:read'])('lets a token with %s read it (D35)', async (scope) => {
    const reply = await site.org.client(scope).get(path)
    expect([reply.status, reply.json.total_count]).toEqual([200, 1])
  })

  it.each(['viewer', 'operator', 'manager', 'admin'] as const)('lets a session of a %s read it (D39)', async (role) => {
    const { accessToken } = await site.org.signIn(role)
    const reply = await context.app.anonymous('GET', path, { token: accessToken })
    expect([reply.status, reply.json.total_count]).toEqual([200, 1])
  })

  it('requires tracking:read, not assets:read or locations:read', async () => {
    const others = site.org.client('assets:read', 'assets:write', 'locations:read', 'locations:write', 'tracking:write')
    const reply = await others.get(path)
    expectApiError(reply, 403, 'forbidden')
    expect(reply.json.error.detail).toBe('Missing required scope: tracking:read')
  })

  it('rejects a request without a token', async () => {
    expectApiError(await context.app.anonymous('GET', path), 401, 'unauthorized')
  })

  it('rejects a reader’s token', async () => {
    expectApiError(await context.app.anonymous('GET', path, { token: site.token }), 401, 'unauthorized')
  })

  it('supports no write methods', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const reply = await context.app.anonymous(method, path, { json: {} })
      expectApiError(reply, 405, 'method_not_allowed')
      expect(reply.headers['allow']).toBe('GET, HEAD')
    }
  })

  it('answers HEAD with the headers of GET and no body', async () => {
    const reply = await site.api.send('HEAD', path)
    expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([200, '', 'application/json'])
  })
})
