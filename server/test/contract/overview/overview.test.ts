import { beforeAll, describe, expect, it } from 'vitest'
import { remove } from '../../support/master-data.ts'
import {
  type SiteLocation,
  Site,
  type SiteAsset,
  database,
  eventually,
  expectApiError,
  useTracking,
} from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:30:00Z')

let site: Site
let token: string
let [yard, hall, dock] = [] as unknown as [SiteLocation, SiteLocation, SiteLocation]
let [pallet, crate, drum, gone] = [] as unknown as [SiteAsset, SiteAsset, SiteAsset, SiteAsset]

const get = (path: string, query: Record<string, string | number | readonly (string | number)[]> = {}) =>
  context.app.anonymous('GET', `/api/v1${path}`, { token, query })

beforeAll(async () => {
  site = await Site.open(context.app, 'Yard', 'Hall')
  ;[yard, hall] = site.locations as [SiteLocation, SiteLocation]
  await site.api.patch(`/api/v1/locations/${hall.id}`, { parent_id: yard.id })
  dock = await site.createLocation('Dock', { parent_id: hall.id })
  token = (await site.org.signIn('viewer')).accessToken
  ;[pallet, crate, drum, gone] = [
    await site.createAsset('Pallet'),
    await site.createAsset('Crate'),
    await site.createAsset('Drum'),
    await site.createAsset('Gone'),
  ]
  await site.createAsset('Never')
  await site.recordSighting(hall, [pallet, gone], '2026-05-03T10:00:00Z')
  await site.recordSighting(dock, [drum], '2026-05-03T12:29:59Z')
  await site.recordSighting(dock, [pallet], '2026-05-04T09:59:59Z')
  await site.recordSighting(yard, [crate], '2026-05-04T12:00:00Z')
  await site.recordSighting(yard, [pallet], '2026-05-04T12:10:00Z')
  await remove(site.api, 'assets', gone.id)
})

describe('GET /overview', () => {
  it('counts assets per location, subtrees included, without deleted records', async () => {
    const reply = await get('/overview')
    expect(reply.status).toBe(200)
    const location = (one: SiteLocation, parent: SiteLocation | null, here: number, below: number) => ({
      location_id: one.id,
      parent_id: parent?.id ?? null,
      name: one.name,
      external_key: one.key,
      here,
      here_with_subtree: below,
    })
    const { locations, ...totals } = reply.json.data
    expect(totals).toEqual({ assets_total: 4, seen_total: 3, unseen_after_hours: 24, unseen_total: 1 })
    expect(locations).toEqual([location(dock, hall, 1, 1), location(hall, yard, 0, 1), location(yard, null, 2, 3)])
  })

  it('of an empty organization is all zeros', async () => {
    const other = await context.app.newOrg()
    const { accessToken } = await other.signIn('viewer')
    const reply = await context.app.anonymous('GET', '/api/v1/overview', { token: accessToken })
    expect(reply.json.data).toMatchObject({ assets_total: 0, seen_total: 0, unseen_total: 0, locations: [] })
  })

  it('is computed once for concurrent requests', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => get('/overview')))
    expect(new Set(replies.map((reply) => reply.text)).size).toBe(1)
  })
})

describe('GET /assets-at-location', () => {
  const names = async (query: Parameters<typeof get>[1]) => {
    const reply = await get('/assets-at-location', query)
    expect(reply.status, reply.text).toBe(200)
    expect(reply.json.total_count).toBe(reply.json.data.length)
    return (reply.json.data as { name: string }[]).map((one) => one.name)
  }

  it('lists the live assets at a location and below it, with the filters and the order of the asset list', async () => {
    expect(await names({ location_id: yard.id, sort: '-name' })).toEqual(['Pallet', 'Drum', 'Crate'])
    expect(await names({ location_id: hall.id })).toEqual(['Drum'])
    expect(await names({ location_id: yard.id, q: 'crat' })).toEqual(['Crate'])
    expect(await names({ location_id: yard.id, is_active: 'false' })).toEqual([])
    expect(await names({})).toEqual([])
  })

  it('finds nothing at the locations of another organization', async () => {
    const { accessToken } = await (await context.app.newOrg()).signIn('viewer')
    const query = { location_id: yard.id }
    const reply = await context.app.anonymous('GET', '/api/v1/assets-at-location', { token: accessToken, query })
    expect([reply.status, reply.json.total_count]).toEqual([200, 0])
  })
})

describe('GET /assets-by-last-seen', () => {
  const page = async (query: Parameters<typeof get>[1] = {}): Promise<[string[], number]> => {
    const reply = await get('/assets-by-last-seen', query)
    expect(reply.status, reply.text).toBe(200)
    return [(reply.json.data as { name: string }[]).map((one) => one.name), reply.json.total_count]
  }

  it('lists live assets, the latest seen first or last, and those that were never seen at the end', async () => {
    expect(await page()).toEqual([['Pallet', 'Crate', 'Drum', 'Never'], 4])
    expect(await page({ sort: '-last_seen_at' })).toEqual([['Pallet', 'Crate', 'Drum', 'Never'], 4])
    expect(await page({ sort: 'last_seen_at' })).toEqual([['Drum', 'Crate', 'Pallet', 'Never'], 4])
    const reply = await get('/assets-by-last-seen', { limit: 1 })
    expect(reply.json.data).toEqual([
      {
        id: pallet.id,
        external_key: 'PALLET',
        name: 'Pallet',
        is_active: true,
        updated_at: expect.any(String),
        tag_count: 1,
      },
    ])
  })

  it('has pages that neither overlap nor omit an asset, with the exact total on each', async () => {
    for (const sort of ['last_seen_at', '-last_seen_at']) {
      const pages = [0, 1, 2, 3, 4].map((offset) => page({ sort, limit: 1, offset }))
      const [all] = await page({ sort })
      expect(await Promise.all(pages)).toEqual([...all.map((name) => [[name], 4]), [[], 4]])
    }
  })

  it('combines with the filters of the asset list', async () => {
    expect(await page({ q: 'ne' })).toEqual([['Never'], 1])
    expect(await page({ q: 'r', sort: 'last_seen_at' })).toEqual([['Drum', 'Crate', 'Never'], 3])
    expect(await page({ location_id: hall.id })).toEqual([['Drum'], 1])
    expect(await page({ location_id: yard.id, q: 'crat', is_active: 'true' })).toEqual([['Crate'], 1])
    expect(await page({ is_active: 'true' })).toEqual([['Pallet', 'Crate', 'Drum', 'Never'], 4])
    expect(await page({ is_active: 'false' })).toEqual([[], 0])
  })

  it('shows no asset of another organization', async () => {
    const { accessToken } = await (await context.app.newOrg()).signIn('viewer')
    const query = { location_id: yard.id }
    for (const more of [{}, { query }]) {
      const reply = await context.app.anonymous('GET', '/api/v1/assets-by-last-seen', { token: accessToken, ...more })
      expect([reply.status, reply.json.data, reply.json.total_count]).toEqual([200, [], 0])
    }
  })
})

describe('GET /moves', () => {
  it('lists the latest moves, newest first, with the names at the time of the move', async () => {
    const reply = await get('/moves', { limit: 1 })
    expect(reply.json).toEqual({
      data: [
        {
          delivery_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          occurred_at: '2026-05-04T12:10:00.000Z',
          asset: { id: pallet.id, external_key: 'PALLET', name: 'Pallet' },
          from_location: { id: dock.id, name: 'Dock' },
          to_location: { id: yard.id, name: 'Yard' },
        },
      ],
    })
    const all = await get('/moves')
    const rows = all.json.data as {
      asset: { name: string }
      from_location: SiteLocation | null
      to_location: SiteLocation
    }[]
    const moves = rows.map((row) => [row.asset.name, row.from_location?.name ?? null, row.to_location.name])
    expect(moves).toHaveLength(6)
    expect(moves.slice(0, 4)).toEqual([
      ['Pallet', 'Dock', 'Yard'],
      ['Crate', null, 'Yard'],
      ['Pallet', 'Hall', 'Dock'],
      ['Drum', null, 'Dock'],
    ])
    expect(moves.slice(4).toSorted()).toEqual([
      ['Gone', null, 'Hall'],
      ['Pallet', null, 'Hall'],
    ])
  })

  it('rejects parameters that it does not have', async () => {
    expectApiError(await get('/moves', { from: '2026-05-04T00:00:00Z' }), 400, 'validation_error', [
      { field: 'from', code: 'unknown_field' },
    ])
  })
})

describe('GET /move-counts', () => {
  it('counts the moves of the last days per quarter of an hour', async () => {
    expect((await get('/move-counts')).json.data).toEqual([
      { at: '2026-05-04T09:45:00.000Z', moves: 1 },
      { at: '2026-05-04T12:00:00.000Z', moves: 2 },
    ])
    const [first] = (await get('/move-counts', { days: 2 })).json.data
    expect(first).toEqual({ at: '2026-05-03T10:00:00.000Z', moves: 2 })
  })
})

describe('GET /asset-stays/{asset_id}', () => {
  const stay = (location: SiteLocation, began: string, ended: string | null, more: object = {}) => ({
    location_id: location.id,
    location_external_key: location.key,
    location_name: location.name,
    began_at: began,
    began_earlier: false,
    ended_at: ended,
    last_seen_at: began,
    minutes: 1,
    notes: [],
    ...more,
  })
  const [atHall, atDock, atYard] = ['2026-05-03T10:00:00.000Z', '2026-05-04T09:59:59.000Z', '2026-05-04T12:10:00.000Z']

  it('joins the history rows at one location into a stay that ends with the first row elsewhere', async () => {
    const all = (await get(`/asset-stays/${pallet.id}`)).json
    expect(all).toEqual({
      data: [stay(yard, atYard, null), stay(dock, atDock, atYard), stay(hall, atHall, atDock)],
      limit: 50,
      offset: 0,
      total_count: 3,
    })
    expect((await get(`/asset-stays/${pallet.id}`, { limit: 1, offset: 1 })).json.data).toEqual([all.data[1]])
    const other = await Site.open(context.app, 'Bay')
    const [box, bay] = [await other.createAsset('Box'), other.locations[0]!]
    await other.sendReads(
      ...['10:00', '10:05', '10:20'].map((clock) => ({
        tag: box.tag,
        antenna: 1,
        observed_at: `2026-05-04T${clock}:00Z`,
      })),
      { tag: box.tag, antenna: 9, observed_at: '2026-05-04T10:30:00Z' },
      { tag: box.tag, antenna: 1, observed_at: '2026-05-04T10:40:00Z' },
    )
    const theirs = (await other.org.signIn('viewer')).accessToken
    const { data } = (await context.app.anonymous('GET', `/api/v1/asset-stays/${box.id}`, { token: theirs })).json
    expect(data).toMatchObject([
      { location_id: bay.id, ended_at: null, minutes: 1 },
      { location_id: null, location_name: null, ended_at: '2026-05-04T10:40:00.000Z', minutes: 1 },
      {
        location_id: bay.id,
        last_seen_at: '2026-05-04T10:20:00.000Z',
        ended_at: '2026-05-04T10:30:00.000Z',
        minutes: 3,
      },
    ])
  })

  it('covers a period and begins with the stay that lasted at its start', async () => {
    const period = { from: '2026-05-04T00:00:00Z', to: '2026-05-04T12:00:00Z' }
    expect((await get(`/asset-stays/${pallet.id}`, period)).json.data).toEqual([
      stay(dock, atDock, null),
      stay(hall, atHall, atDock, { began_earlier: true, minutes: 0 }),
    ])
    const before = { from: '2026-05-02T00:00:00Z', to: '2026-05-03T00:00:00Z' }
    expect((await get(`/asset-stays/${pallet.id}`, before)).json).toMatchObject({ data: [], total_count: 0 })
  })
})

describe('GET /unseen-assets', () => {
  it('lists scanned assets that have not been seen for some hours, longest unseen first', async () => {
    const reply = await get('/unseen-assets', { hours: 1 })
    const quiet = { location_id: dock.id, location_name: 'Dock' }
    expect(reply.json).toEqual({
      data: [
        { asset_id: drum.id, external_key: 'DRUM', name: 'Drum', ...quiet, last_seen_at: '2026-05-03T12:29:59.000Z' },
      ],
      limit: 50,
      offset: 0,
      total_count: 1,
    })
    expect((await get('/unseen-assets')).json.total_count).toBe(1)
    expect((await get('/unseen-assets', { hours: 25 })).json).toMatchObject({ data: [], total_count: 0 })
  })

  it.each([
    ['0', 'too_small', { min: 1 }],
    ['87601', 'too_large', { max: 87_600 }],
    ['1.5', 'invalid_value', undefined],
  ])('rejects %s hours', async (hours, code, params) => {
    const problem = params === undefined ? { field: 'hours', code } : { field: 'hours', code, params }
    expectApiError(await get('/unseen-assets', { hours }), 400, 'validation_error', [problem as never])
  })
})

describe('GET /never-seen-assets', () => {
  it('lists the assets without a sighting, ordered by key, with the total of the overview', async () => {
    const other = await Site.open(context.app, 'Yard')
    const [, spare] = [await other.createAsset('Zebra'), await other.createAsset('Spare')]
    const seen = await other.createAsset('Seen')
    await other.recordSighting(other.locations[0]!, [seen], '2026-05-04T10:00:00Z')
    await remove(other.api, 'assets', (await other.createAsset('Removed')).id)
    const { accessToken } = await other.org.signIn('viewer')
    const list = async (query: Record<string, number>) =>
      (await context.app.anonymous('GET', '/api/v1/never-seen-assets', { token: accessToken, query })).json
    const row = { asset_id: spare.id, external_key: 'SPARE', name: 'Spare', created_at: '2026-05-04T12:30:00.000Z' }
    expect(await list({ limit: 1 })).toEqual({ data: [row], limit: 1, offset: 0, total_count: 2 })
    expect((await list({ offset: 1 })).data).toMatchObject([{ name: 'Zebra' }])
    expect(await list({ offset: 2 })).toMatchObject({ data: [], total_count: 2 })
  })
})

describe('GET /attention', () => {
  const attention = async (org: Site, role: 'viewer' | 'manager' | 'admin') => {
    const { accessToken } = await org.org.signIn(role)
    return (await context.app.anonymous('GET', '/api/v1/attention', { token: accessToken })).json.data
  }
  const nothing = { silent_readers: 0, unassigned_tags: 0, webhook_is_failing: false, failed_imports: [] }

  it('counts silent readers and unassigned tags; a reader is silent after 15 minutes without a message', async () => {
    const other = await Site.open(context.app, 'Yard')
    expect(await attention(other, 'viewer')).toEqual({ ...nothing, silent_readers: 1 })
    await other.post([{ tag: 'UNKNOWN' }])
    await eventually(async () => expect(await attention(other, 'viewer')).toEqual({ ...nothing, unassigned_tags: 1 }))
    const { accessToken } = await other.org.signIn('viewer')
    const silent = async (isSilent: string) => {
      const query = { is_silent: isSilent }
      return (await context.app.anonymous('GET', '/api/v1/readers', { token: accessToken, query })).json.total_count
    }
    expect([await silent('true'), await silent('false')]).toEqual([0, 1])
    const idle = `update readers set last_seen_at = '2026-05-04T12:14:59Z' where org_id = ${other.org.orgId}`
    await database(context.app).unsafe(idle)
    expect([await silent('true'), await silent('false')]).toEqual([1, 0])
    expect(await attention(other, 'viewer')).toMatchObject({ silent_readers: 1 })
  })

  it('reports a webhook whose latest attempt failed, and failed imports, to the roles that manage them', async () => {
    const other = await Site.open(context.app)
    const sql = database(context.app)
    const { orgId } = other.org
    const token = (await other.org.signIn('admin')).accessToken
    const post = (path: string, json: object) => context.app.anonymous('POST', `/api/v1${path}`, { token, json })
    const hook = (await post('/webhooks', { url: 'https://hooks.example.com/' })).json.data
    const attempt = (at: string, status: number | null) => sql`
      insert into webhook_attempts (org_id, attempted_at, delivery_id, attempt, webhook_id, event, status, duration_ms)
      values (${orgId}, ${at}, gen_random_uuid(), 1, ${hook.id}, 'asset.moved', ${status}, 5)`
    const isFailing = async () => (await attention(other, 'admin')).webhook_is_failing
    await attempt('2026-05-04T12:29:00Z', 500)
    expect(await isFailing(), 'an attempt before the last change').toBe(false)
    await attempt('2026-05-04T12:31:00Z', null)
    expect(await isFailing()).toBe(true)
    await attempt('2026-05-04T12:32:00Z', 302)
    expect(await isFailing()).toBe(true)
    const { id } = (await post('/imports', { kind: 'assets' })).json.data
    await sql`update imports set state = 'failed' where org_id = ${orgId} and id = ${id}`
    const failed = [{ id, kind: 'assets', failed_at: '2026-05-04T12:30:00.000Z' }]
    expect(await attention(other, 'manager')).toMatchObject({ webhook_is_failing: false, failed_imports: failed })
    expect(await attention(other, 'viewer')).toMatchObject({ webhook_is_failing: false, failed_imports: [] })
    await attempt('2026-05-04T12:33:00Z', 204)
    expect(await isFailing()).toBe(false)
  })
})

describe('GET /reports/dwell', () => {
  const dwell = async (query: Parameters<typeof get>[1]) => {
    const reply = await get('/reports/dwell', query)
    expect(reply.status, reply.text).toBe(200)
    const rows = reply.json.data as { external_key: string; minutes: number; assets: number; visits: number }[]
    return rows.map((row) => [row.external_key, row.minutes, row.assets, row.visits])
  }

  it('sums the time that assets stayed, from the move to the location until the next move or the end of the period', async () => {
    // The drum has been in the dock since the day before; the pallet was there from 09:59:59 to 12:10.
    expect(await dwell({ from: '2026-05-04T11:00:00Z', to: '2026-05-04T12:20:00Z' })).toEqual([
      ['DOCK', 80 + 70, 2, 2],
      ['HALL', 80, 1, 1],
      ['YARD', 20 + 10, 2, 2],
    ])
  })

  it('rolls locations up to a level of the tree: a move within a group does not end the stay', async () => {
    const period = { from: '2026-05-04T11:00:00Z', to: '2026-05-04T12:20:00Z' }
    // The pallet moved from the dock to the yard, which contains the dock: one visit.
    expect(await dwell({ ...period, level: 0 })).toEqual([['YARD', 80 + 80 + 20 + 80, 4, 4]])
    expect(await dwell({ ...period, level: 1 })).toEqual([
      ['HALL', 80 + 80 + 70, 3, 3],
      ['YARD', 20 + 10, 2, 2],
    ])
    expect(await dwell({ ...period, level: 2 })).toEqual(await dwell(period))
  })

  it('limits the end to now, and covers the last week by default', async () => {
    const spans = [{}, { to: '2027-01-01T00:00:00Z', from: '2026-04-27T12:30:00Z' }]
    const [plain, ahead] = [await dwell(spans[0]!), await dwell(spans[1]!)]
    expect(plain).toEqual(ahead)
    // The pallet and the asset that is deleted now, each since 10:00 the day before.
    expect(plain[0]).toEqual(['HALL', 1439 + 1590, 2, 2])
    expect(plain[1]).toEqual(['DOCK', 1440 + 130, 2, 2])
  })

  it('of a period without data is empty', async () => {
    expect(await dwell({ from: '2026-05-01T00:00:00Z', to: '2026-05-02T00:00:00Z' })).toEqual([])
  })

  it('ends a stay when the asset is deleted', async () => {
    context.clock.set('2026-05-04T13:30:00Z')
    const { accessToken } = await site.org.signIn('viewer')
    const query = { from: '2026-05-04T12:40:00Z', to: '2026-05-04T13:00:00Z' }
    const reply = await context.app.anonymous('GET', '/api/v1/reports/dwell', { token: accessToken, query })
    context.clock.set('2026-05-04T12:30:00Z')
    const rows = reply.json.data as { external_key: string; minutes: number }[]
    expect(rows.map((row) => [row.external_key, row.minutes])).toEqual([
      ['YARD', 40],
      ['DOCK', 20],
    ])
  })

  it('rejects an end before the start', async () => {
    const query = { from: '2026-05-04T11:00:00Z', to: '2026-05-04T10:00:00Z' }
    for (const path of ['/reports/dwell', '/reports/flow'])
      expectApiError(await get(path, query), 400, 'validation_error', [{ field: 'to', code: 'invalid_value' }])
  })
})

describe('GET /reports/flow', () => {
  it('counts moves between pairs of locations, most frequent first', async () => {
    const reply = await get('/reports/flow', { from: '2026-05-03T00:00:00Z' })
    const rows = reply.json.data as Record<string, unknown>[]
    expect(rows[0]).toEqual({
      from_location_id: null,
      from_name: null,
      to_location_id: hall.id,
      to_name: 'Hall',
      moves: 2,
    })
    const others = rows
      .slice(1)
      .map((row) => `${String(row['from_name'])} to ${String(row['to_name'])}: ${String(row['moves'])}`)
    expect(others.sort()).toEqual(['Dock to Yard: 1', 'Hall to Dock: 1', 'null to Dock: 1', 'null to Yard: 1'])
  })

  it('rolls locations up to a level of the tree and leaves out moves within a group', async () => {
    const pairs = async (level: number) => {
      const rows = (await get('/reports/flow', { from: '2026-05-03T00:00:00Z', level })).json.data
      return rows.map((row: Record<string, unknown>) => [row['from_name'], row['to_name'], row['moves']])
    }
    expect(await pairs(0)).toEqual([[null, 'Yard', 4]])
    expect((await pairs(1)).sort()).toEqual(
      [
        ['Hall', 'Yard', 1],
        [null, 'Hall', 3],
        [null, 'Yard', 1],
      ].sort(),
    )
  })
})

describe('GET /reports/assets-per-location', () => {
  const counts = async (query: Parameters<typeof get>[1]) => {
    const reply = await get('/reports/assets-per-location', query)
    expect(reply.status, reply.text).toBe(200)
    return (reply.json.data as { external_key: string | null; assets: number }[]).map((row) => [
      row.external_key,
      row.assets,
    ])
  }

  it('counts the rows of the report at that instant for each location, without deleted assets', async () => {
    expect(await counts({ at: '2026-05-03T12:00:00Z' })).toEqual([['HALL', 1]])
    expect(await counts({ at: '2026-05-04T11:00:00Z' })).toEqual([['DOCK', 2]])
    expect(await counts({})).toEqual([
      ['YARD', 2],
      ['DOCK', 1],
    ])
    const report = await get('/reports/asset-locations', { at: '2026-05-04T11:00:00Z', limit: 1 })
    expect(report.json.total_count).toBe(2)
  })

  it('rolls locations up to a level of the tree', async () => {
    const now = '2026-05-04T12:30:00Z'
    expect(await counts({ at: now, level: 0 })).toEqual([['YARD', 3]])
    expect(await counts({ at: now, level: 1 })).toEqual([
      ['YARD', 2],
      ['HALL', 1],
    ])
  })

  it('before the first sighting is empty', async () => {
    expect(await counts({ at: '2026-05-01T00:00:00Z' })).toEqual([])
  })

  it('leaves out assets outside their period of validity, now and at an instant', async () => {
    const other = await Site.open(context.app, 'Depot', 'Shed')
    const [depot, shed] = other.locations as [SiteLocation, SiteLocation]
    const assets = [
      await other.createAsset('Valid'),
      await other.createAsset('Expired', { valid_from: '2026-05-01T00:00:00Z', valid_to: '2026-05-04T12:00:00Z' }),
      await other.createAsset('Later', { valid_from: '2027-01-01T00:00:00Z' }),
      await other.createAsset('Gone'),
    ]
    await other.recordSighting(depot, assets, '2026-05-04T11:00:00Z')
    await other.recordSighting(shed, assets.slice(1, 2), '2026-05-04T11:30:00Z')
    await remove(other.api, 'assets', assets[3]!.id)
    const { accessToken } = await other.org.signIn('viewer')
    for (const query of [{}, { at: '2026-05-04T12:00:00Z' }]) {
      const path = '/api/v1/reports/assets-per-location'
      const reply = await context.app.anonymous('GET', path, { token: accessToken, query })
      expect(reply.json.data).toEqual([{ location_id: depot.id, external_key: depot.key, name: 'Depot', assets: 1 }])
    }
  })

  it('counts assets at a location that is deleted now under none', async () => {
    const other = await Site.open(context.app, 'Shed', 'Barn')
    const [shed, barn] = other.locations as [SiteLocation, SiteLocation]
    const rake = await other.createAsset('Rake')
    await other.recordSighting(shed, [rake], '2026-05-04T10:00:00Z')
    await other.recordSighting(barn, [rake], '2026-05-04T11:00:00Z')
    await remove(other.api, 'locations', shed.id)
    const { accessToken } = await other.org.signIn('viewer')
    const at = async (time: string) => {
      const query = { at: time, level: 0 }
      const path = '/api/v1/reports/assets-per-location'
      return (await context.app.anonymous('GET', path, { token: accessToken, query })).json.data as unknown
    }
    expect(await at('2026-05-04T10:30:00Z')).toEqual([{ location_id: null, external_key: null, name: null, assets: 1 }])
    expect(await at('2026-05-04T11:30:00Z')).toEqual([
      { location_id: barn.id, external_key: barn.key, name: 'Barn', assets: 1 },
    ])
  })
})

describe('With many locations', () => {
  let accessToken: string
  const read = async (path: string) => {
    const reply = await context.app.anonymous('GET', `/api/v1${path}`, { token: accessToken })
    expect(reply.status, reply.text).toBe(200)
    return reply.json.data
  }
  beforeAll(async () => {
    const org = await context.app.newOrg()
    accessToken = (await org.signIn('viewer')).accessToken
    const sql = database(context.app)
    for (const table of ['locations', 'assets'])
      await sql.unsafe(`
        insert into ${table} (org_id, id, external_key, name, is_active, valid_from, created_at, updated_at, search_text
          ${table === 'assets' ? ', metadata' : ''})
        select ${org.orgId}, n, 'K-' || n, 'Name "' || n || '"', true, now(), now(), now(), ''
          ${table === 'assets' ? `, '{}'` : ''}
        from generate_series(1, 1002) n`)
    await sql`
      insert into asset_positions (org_id, asset_id, location_id, last_seen_at, last_minute, minutes)
      select ${org.orgId}, n, case when n > 1001 then 2 else n end, '2026-01-01', '2026-01-01', 1 from generate_series(1, 1002) n`
  })

  it('the overview has all of them', async () => {
    const { locations } = (await read('/overview')) as {
      locations: { location_id: number; name: string; here: number }[]
    }
    expect(locations).toHaveLength(1002)
    expect(locations.find((one) => one.location_id === 2)).toEqual({
      ...{ location_id: 2, parent_id: null, name: 'Name "2"', external_key: 'K-2', here: 2, here_with_subtree: 2 },
    })
    expect(locations.reduce((sum, { here }) => sum + here, 0)).toBe(1002)
  })

  it.each(['/reports/dwell?from=2026-05-01T00:00:00Z', '/reports/assets-per-location'])(
    'GET %s has the 1,000 locations with the largest numbers',
    async (path) => {
      const rows = (await read(path)) as { location_id: number; assets: number }[]
      expect(rows).toHaveLength(1000)
      expect(rows[0]).toMatchObject({ location_id: 2, assets: 2 })
    },
  )
})
