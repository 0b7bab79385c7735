import { beforeAll, describe, expect, it } from 'vitest'
import { assetRows, locationRows } from '../../../src/bulk/exports.ts'
import { parseCsv, parseRecords } from '../../support/csv.ts'
import { create, remove } from '../../support/master-data.ts'
import { type SiteLocation, Site, type SiteAsset, database, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

let site: Site
let token: string
beforeAll(async () => {
  site = await Site.open(context.app, 'Dock', 'Hall')
  token = (await site.org.signIn('viewer')).accessToken
})

const get = (path: string, query: Record<string, string | number | number[]> = {}, as = token) =>
  context.app.anonymous('GET', `/api/v1/exports/${path}`, { token: as, query })

const nasty = [
  '=1+1',
  '+1',
  '-1',
  '@sum',
  "'quoted",
  "'=x",
  'a,b',
  'say "hi"',
  ' blank ',
  'Åse 😀',
  '0012',
  '<script>alert(1)</script>',
]

describe('GET /exports/assets.csv', () => {
  it('is UTF-8 with a byte order mark, CRLF and a header line, sent as an attachment', async () => {
    const { accessToken } = await (await context.app.newOrg()).signIn('viewer')
    const reply = await get('assets.csv', {}, accessToken)
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(reply.headers['content-disposition']).toBe('attachment; filename="assets.csv"')
    expect(reply.headers['cache-control']).toBe('private, no-store')
    expect(reply.text.replace('\uFEFF', '')).toBe(
      'external_key,name,description,metadata,is_active,valid_from,valid_to,tags\r\n',
    )
  })

  it('contains only the assets with the given ids, and none of another organization', async () => {
    const org = await context.app.newOrg()
    const { accessToken } = await org.signIn('viewer')
    const made = []
    for (const key of ['A', 'B', 'C']) made.push(await create(org.full, 'assets', { external_key: key, name: key }))
    const foreign = await create(site.api, 'assets', { external_key: 'FOREIGN', name: 'Foreign' })
    const ids = [made[2]!.id, made[0]!.id, foreign.id]
    const records = parseRecords((await get('assets.csv', { asset_id: ids }, accessToken)).text)
    expect(records.map((one) => one['external_key']).sort()).toEqual(['A', 'C'])
  })

  it('contains each asset, also outside its validity, and can be read back without loss', async () => {
    const org = await context.app.newOrg()
    const { accessToken } = await org.signIn('viewer')
    const bodies = nasty.map((text, at) => ({
      external_key: text,
      name: text,
      description: at % 2 === 0 ? `${text}\r\nsecond line\t` : '',
      metadata: { text, 'deep,"er': [1.5, null, { '=x': true }] },
      is_active: at % 2 === 0,
      valid_from: '2026-01-01T00:00:00.123Z',
      valid_to: at % 3 === 0 ? '2026-02-01T00:00:00.000Z' : null,
      tags: [
        { tag_type: 'barcode', value: `${text}: ${at}` },
        { tag_type: 'rfid', value: `E${at}` },
      ],
    }))
    for (const body of bodies) await create(org.full, 'assets', body)
    const gone = await create(org.full, 'assets', { external_key: 'gone', name: 'x' })
    await org.full.delete(`/api/v1/assets/${gone.id}`)

    const records = parseRecords((await get('assets.csv', {}, accessToken)).text)
    const read = records.map(({ metadata, tags, is_active, ...rest }) => ({
      ...rest,
      is_active: is_active === 'true',
      metadata: JSON.parse(metadata!),
      tags: tags!.split('\n').map((tag) => ({
        tag_type: tag.slice(0, tag.indexOf(':')),
        value: tag.slice(tag.indexOf(':') + 1),
      })),
    }))
    const keyOf = (one: object): string => (one as { external_key: string }).external_key
    const byKey = (a: object, b: object) => (keyOf(a) < keyOf(b) ? -1 : 1)
    expect(read.sort(byKey)).toEqual(bodies.sort(byKey))
  })

  it('has no cell that a spreadsheet would evaluate as a formula', async () => {
    const org = await context.app.newOrg()
    const { accessToken } = await org.signIn('viewer')
    for (const text of nasty) await create(org.full, 'assets', { external_key: text, name: text, description: text })
    const cells = parseCsv((await get('assets.csv', {}, accessToken)).text).flat()
    expect(cells.filter((cell) => /^[=+\-@\t\r]/.test(cell))).toEqual([])
  })

  it('is never truncated: it contains every asset once, over many batches', async () => {
    const org = await context.app.newOrg()
    const { accessToken } = await org.signIn('viewer')
    await database(context.app)`
      insert into assets (org_id, id, external_key, name, metadata, is_active, valid_from, created_at, updated_at, search_text)
      select ${org.orgId}, n * 7919 % 1000003 + 1, 'K' || n, 'Thing', '{}', true, now(), now(), now(), ''
      from generate_series(1, 6000) n`
    const records = parseRecords((await get('assets.csv', {}, accessToken)).text)
    expect(records.length).toBe(6000)
    expect(new Set(records.map((one) => one['external_key'])).size).toBe(6000)
  })
})

describe('An export of records', () => {
  const value = '\u{1F4E6}'.repeat(250)
  it.each([
    [
      'assets with 60 KiB of metadata',
      'assets',
      assetRows,
      { metadata: JSON.stringify({ n: 'x'.repeat(60 * 1024) }) },
      0,
    ],
    ['assets with 100 long tags', 'assets', assetRows, { metadata: '{}' }, 100],
    ['locations with 100 long tags', 'locations', locationRows, {}, 100],
  ] as const)('reads %s in batches of at most 1 MiB', async (_what, table, rowsOf, columns, tags) => {
    const { orgId } = await context.app.newOrg()
    const sql = database(context.app)
    for (let id = 1; id <= 40; id++) {
      const base = {
        org_id: orgId,
        id,
        external_key: `K${id}`,
        name: 'x',
        description: value,
        is_active: true,
        search_text: '',
      }
      const times = { valid_from: new Date(), created_at: new Date(), updated_at: new Date() }
      await sql`insert into ${sql(table)} ${sql({ ...base, ...times, ...columns })}`
    }
    const owner = sql(table === 'assets' ? 'asset_id' : 'location_id')
    await sql`
      insert into tags (org_id, id, ${owner}, tag_type, value, normalized_value, created_at)
      select ${orgId}, o * 1000 + n, o, 'barcode', ${value} || o || '-' || n, ${value} || o || '-' || n, now()
      from generate_series(1, 40) o, generate_series(1, ${tags}::int) n`
    const batches: number[] = []
    for await (const rows of rowsOf(context.app.context.db.replica(orgId), orgId)) {
      batches.push(rows.length)
      expect(Buffer.byteLength(JSON.stringify(rows))).toBeLessThan(1.1 * 1024 * 1024)
    }
    expect(batches.reduce((sum, length) => sum + length)).toBe(40)
    expect(batches.length).toBeGreaterThan(3)
  })
})

describe('GET /exports/locations.csv', () => {
  it('names each parent by its key', async () => {
    await create(site.api, 'locations', { external_key: 'SHELF', name: 'Shelf', parent_external_key: 'HALL' })
    const { text } = await get('locations.csv')
    const records = parseRecords(text).map((one) => [one['external_key'], one['parent_external_key']])
    expect(records.sort()).toEqual([
      ['DOCK', null],
      ['HALL', null],
      ['SHELF', 'HALL'],
    ])
    expect(text.split('\r\n')[0]!.replace('\uFEFF', '')).toBe(
      'external_key,name,description,parent_external_key,is_active,valid_from,valid_to,tags',
    )
  })
})

describe('GET /exports/history.csv and /exports/positions.csv', () => {
  let [dock, hall] = [] as unknown as [SiteLocation, SiteLocation]
  let [pallet, crate] = [] as unknown as [SiteAsset, SiteAsset]
  beforeAll(async () => {
    ;[dock, hall] = site.locations as [SiteLocation, SiteLocation]
    ;[pallet, crate] = [await site.createAsset('Pallet'), await site.createAsset('Crate')]
    await site.recordSighting(dock, [pallet], '2026-05-04T10:00:00Z')
    await site.recordSighting(hall, [pallet], '2026-05-04T10:10:30Z')
    await site.recordSighting(hall, [crate], '2026-05-04T11:00:00.250Z')
    await site.recordSighting(dock, [pallet], '2026-05-04T11:30:00Z')
  })

  const rows = async (path: string, query: Record<string, string | number | number[]> = {}) => {
    const [head, ...lines] = parseCsv((await get(path, query)).text)
    return { head, lines: lines.sort() }
  }
  const first = ['PALLET', 'Pallet', '2026-05-04T10:00:00.000Z', 'DOCK', 'Dock', '']
  const second = ['PALLET', 'Pallet', '2026-05-04T10:10:30.000Z', 'HALL', 'Hall', '630']
  const third = ['PALLET', 'Pallet', '2026-05-04T11:30:00.000Z', 'DOCK', 'Dock', '4770']
  const only = ['CRATE', 'Crate', '2026-05-04T11:00:00.250Z', 'HALL', 'Hall', '']

  it('have one line per recorded minute, with the time spent at the previous location (D28)', async () => {
    const columns =
      'asset_external_key,asset_name,event_observed_at,location_external_key,location_name,duration_seconds'
    expect(await rows('history.csv')).toEqual({ head: columns.split(','), lines: [only, first, second, third] })
  })

  it('have the history of the given assets between two instants; durations include the time before', async () => {
    const span = { from: '2026-05-04T10:10:30Z', to: '2026-05-04T11:00:00.250Z' }
    expect((await rows('history.csv', span)).lines).toEqual([only, second])
    expect((await rows('history.csv', { asset_id: [pallet.id] })).lines).toEqual([first, second, third])
    expect((await rows('history.csv', { asset_id: [4_503_599_627_370_497] })).lines).toEqual([])
  })

  it('have the location of every asset now, or at an instant (D34)', async () => {
    const now = await rows('positions.csv')
    expect(now.head).toEqual([
      'asset_external_key',
      'asset_name',
      'location_external_key',
      'location_name',
      'last_seen_at',
    ])
    expect(now.lines).toEqual([
      ['CRATE', 'Crate', 'HALL', 'Hall', '2026-05-04T11:00:00.250Z'],
      ['PALLET', 'Pallet', 'DOCK', 'Dock', '2026-05-04T11:30:00.000Z'],
    ])
    expect((await rows('positions.csv', { at: '2026-05-04T10:30:00Z' })).lines).toEqual([
      ['PALLET', 'Pallet', 'HALL', 'Hall', '2026-05-04T10:10:30.000Z'],
    ])
  })

  it('leave out the minutes of a position in the past that retention has removed', async () => {
    const old = await site.createAsset('Old')
    await site.recordSighting(dock, [old], '2026-05-04T10:00:00Z')
    const at = '2026-05-04T10:30:00Z'
    const keys = async () => (await rows('positions.csv', { at })).lines.map(([key]) => key)
    expect(await keys()).toContain('OLD')
    await database(context.app)`
      update asset_positions set history_from = '2026-05-04T10:20:00Z' where org_id = ${site.org.orgId} and asset_id = ${old.id}`
    expect(await keys()).not.toContain('OLD')
    await remove(site.api, 'assets', old.id)
  })

  it('have the positions at some locations, with those below them on request, and of assets that match a text', async () => {
    const keys = async (query: Record<string, string | number | number[]>) =>
      (await rows('positions.csv', query)).lines.map(([key]) => key)
    const bay = await site.createLocation('Bay', { parent_id: dock.id })
    const barrel = await site.createAsset('Barrel', { description: 'looks like a Crate' })
    await site.recordSighting(bay, [barrel], '2026-05-04T11:40:00Z')
    expect(await keys({ location_id: [dock.id] })).toEqual(['PALLET'])
    expect(await keys({ location_id: [dock.id], include_descendants: 'true' })).toEqual(['BARREL', 'PALLET'])
    expect(await keys({ location_id: [dock.id, hall.id], q: 'CRA' })).toEqual(['CRATE'])
    expect(await keys({ location_id: [dock.id], at: '2026-05-04T10:30:00Z' })).toEqual([])
    expect(await keys({ location_id: [hall.id], at: '2026-05-04T10:30:00Z' })).toEqual(['PALLET'])
    expect(await keys({ q: 'crate', at: '2026-05-04T10:30:00Z' })).toEqual([])
    await remove(site.api, 'assets', barrel.id)
  })

  it('have correct durations across batches', async () => {
    const long = await site.createAsset('Long')
    await database(context.app)`
      insert into asset_minutes (org_id, asset_id, minute, location_id, observed_at, source)
      select ${site.org.orgId}, ${long.id}, m, ${dock.id}, m, 'reader'
      from generate_series('2026-05-01T00:00:00Z'::timestamptz, '2026-05-03T02:00:00Z', interval '1 minute') m`
    await database(context.app)`
      insert into asset_positions (org_id, asset_id, location_id, last_seen_at)
      values (${site.org.orgId}, ${long.id}, ${dock.id}, '2026-05-03T02:00:00Z')`
    const { lines } = await rows('history.csv', { asset_id: long.id })
    expect(lines.length).toBe(3001)
    expect(lines.map((line) => line[5])).toEqual(['', ...Array.from({ length: 3000 }, () => '60')])
  })

  it('leave out deleted assets, and the key of a deleted location (D29)', async () => {
    const other = await Site.open(context.app, 'Ramp')
    const [asset, late] = [await other.createAsset('Thing'), await other.createAsset('Late')]
    const away = await other.createLocation('Away')
    await other.recordSighting(other.locations[0]!, [asset, late], '2026-05-04T10:00:00Z')
    await other.recordSighting(away, [asset], '2026-05-04T10:05:00Z')
    await other.api.delete(`/api/v1/assets/${late.id}`)
    await other.api.delete(`/api/v1/locations/${other.locations[0]!.id}`)
    const { accessToken } = await other.org.signIn('viewer')
    const [, ...lines] = parseCsv((await get('history.csv', {}, accessToken)).text)
    expect(lines.map((line) => [line[0], line[3], line[4]])).toEqual([
      ['THING', '', ''],
      ['THING', 'AWAY', 'Away'],
    ])
  })
})
