import { beforeAll, describe, expect, it } from 'vitest'
import { wireTimestamp } from '../../support/openapi.ts'
import { Site, type SiteAsset, database, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`

let site: Site
let pallet: SiteAsset

/** Three observations with microseconds that the wire does not show. */
beforeAll(async () => {
  site = await Site.open(context.app, 'Dock', 'Hall')
  pallet = await site.createAsset('Pallet')
  await site.sendReads(
    { tag: pallet.tag, antenna: 1, observed_at: at('10:00:00.000001') },
    { tag: pallet.tag, antenna: 2, observed_at: at('10:05:30.123999') },
    { tag: pallet.tag, antenna: 1, observed_at: at('10:09:59.999999') },
  )
  const stored = await database(context.app)`
    select observed_at::text as at from asset_minutes where org_id = ${site.org.orgId} order by minute`
  expect(stored.map((row) => row['at'].slice(11, 26))).toEqual([
    '10:00:00.000001',
    '10:05:30.123999',
    '10:09:59.999999',
  ])
})

const shown = ['10:00:00.000', '10:05:30.123', '10:09:59.999']

const clocks = (rows: Record<string, string>[], field: string): string[] =>
  rows.map((row) => row[field]!.slice(11, 23)).sort()

const lists: [string, () => string, string][] = [
  ['history', () => `/api/v1/assets/${pallet.id}/history`, 'event_observed_at'],
  ['history by key', () => '/natural/api/v1/assets/PALLET/history', 'timestamp'],
]

describe.each(lists)('The bounds of %s', (_name, path, field) => {
  const asked = async (query: Record<string, string>): Promise<string[]> => {
    const reply = await site.api.get(path(), query)
    expect(reply.status, reply.text).toBe(200)
    expect(reply.json.total_count).toBe(reply.json.data.length)
    return clocks(reply.json.data, field)
  }

  it.each(shown.map((clock, index) => [clock, index] as const))(
    'from and to are inclusive at the millisecond that is shown: %s [D25]',
    async (clock, index) => {
      expect(await asked({ from: at(clock), to: at(clock) })).toEqual([clock])
      expect(await asked({ to: at(clock) })).toEqual(shown.slice(0, index + 1))
      expect(await asked({ from: at(clock) })).toEqual(shown.slice(index))
    },
  )

  it('from and to one millisecond off a shown time leave its row out [D25]', async () => {
    expect(await asked({ from: at('10:05:30.124') })).toEqual(['10:09:59.999'])
    expect(await asked({ to: at('10:05:30.122') })).toEqual(['10:00:00.000'])
    expect(await asked({ to: at('10:09:59.998') })).toEqual(shown.slice(0, 2))
  })

  it('from and to are truncated to the millisecond like the times they are compared with [D25]', async () => {
    expect(await asked({ from: at('10:05:30.123999'), to: at('10:05:30.123000001') })).toEqual(['10:05:30.123'])
  })

  it('may be the last millisecond that a timestamp can represent [D25]', async () => {
    expect(await asked({ to: '9999-12-31T23:59:59.999Z' })).toEqual(shown)
    expect(await asked({ from: '9999-12-31T23:59:59.999Z' })).toEqual([])
  })
})

describe('The bounds of the arrivals and departures of a location', () => {
  it.each(shown)('are inclusive at the millisecond that is shown: %s [D25]', async (clock) => {
    const path = `/api/v1/locations/${site.locations[0]!.id}/history`
    const reply = await site.api.get(path, { from: at(clock), to: at(clock) })
    expect(clocks(reply.json.data, 'occurred_at')).toEqual([clock])
    expect(reply.json.total_count).toBe(1)
  })
})

describe('The report at an instant', () => {
  const path = '/api/v1/reports/asset-locations'

  it.each(shown)('includes the row that a time was copied from: %s [D34]', async (clock) => {
    const { json } = await site.api.get(path, { at: at(clock) })
    expect(json.total_count).toBe(1)
    expect(json.data[0].asset_last_seen).toBe(at(clock))
    expect((await site.api.get(path, { at: json.data[0].asset_last_seen })).json).toEqual(json)
  })

  it('counts a row whose shown millisecond is at or before the instant, and no later one [D34]', async () => {
    const lastSeen = async (clock: string): Promise<string[]> =>
      clocks((await site.api.get(path, { at: at(clock) })).json.data, 'asset_last_seen')
    expect(await lastSeen('09:59:59.999999')).toEqual([])
    expect(await lastSeen('10:05:30.122999')).toEqual(['10:00:00.000'])
    expect(await lastSeen('10:05:30.123001')).toEqual(['10:05:30.123'])
    expect(await lastSeen('10:09:59.998999')).toEqual(['10:05:30.123'])
  })

  it('at its own asset_last_seen equals the current report [D34]', async () => {
    const { json } = await site.api.get(path)
    expect((await site.api.get(path, { at: json.data[0].asset_last_seen })).json).toEqual(json)
  })
})

describe('Exports', () => {
  const asSession = async (route: string, query: Record<string, string>) =>
    context.app.anonymous('GET', `/api/v1/${route}`, { token: (await site.org.signIn('viewer')).accessToken, query })

  it('compare from, to and at at the millisecond that is shown too [D25, D34]', async () => {
    for (const clock of shown) {
      const bounds = { from: at(clock), to: at(clock) }
      const lines = (await asSession('exports/history.csv', bounds)).text.trim().split('\n')
      expect(lines.slice(1).map((line) => line.split(',')[2]?.slice(11, 23))).toEqual([clock])
      const positions = (await asSession('exports/positions.csv', { at: at(clock) })).text
      expect(positions).toContain(at(clock))
      const moves = (await asSession('bulk/moves', bounds)).text.trim().split('\n')
      expect(moves.map((line) => JSON.parse(line).occurred_at)).toEqual([at(clock)])
    }
  })
})

describe('Every outbound timestamp', () => {
  it('is RFC 3339 in UTC with exactly three fractional digits, also when these are zeros', async () => {
    const other = await Site.open(context.app, 'Dock')
    const crate = await other.createAsset('Crate', {
      valid_from: '2026-01-01T00:00:00+01:00',
      valid_to: '2099-01-01T00:00:00Z',
    })
    await other.sendReads({ tag: crate.tag, antenna: 1, observed_at: at('10:00:00') })
    const listed = async (path: string, query = '') => (await other.api.get(path, query)).json.data[0]
    const history = await listed(`/api/v1/assets/${crate.id}/history`)
    const byKey = [
      await listed('/natural/api/v1/assets'),
      await listed('/natural/api/v1/locations'),
      await listed('/natural/api/v1/assets/CRATE/history'),
      await listed('/natural/api/v1/locations/current'),
    ]
    expect((await other.api.delete(`/api/v1/assets/${crate.id}`)).status).toBe(204)
    expect((await other.api.delete(`/api/v1/locations/${other.locations[0]!.id}`)).status).toBe(204)
    const asset = await listed('/api/v1/assets', 'include_deleted=true')
    const location = await listed('/api/v1/locations', 'include_deleted=true')
    const report = await listed('/api/v1/reports/asset-locations', 'include_deleted=true')
    const timestamps = (row: Record<string, unknown>, ...fields: string[]) => fields.map((field) => [field, row[field]])
    const shown = [
      ...timestamps(asset, 'valid_from', 'valid_to', 'created_at', 'updated_at', 'deleted_at'),
      ...timestamps(location, 'valid_from', 'created_at', 'updated_at', 'deleted_at'),
      ...timestamps(history, 'event_observed_at'),
      ...timestamps(report, 'asset_last_seen', 'asset_deleted_at'),
      ...timestamps(byKey[0], 'valid_from', 'valid_to', 'created_at', 'updated_at'),
      ...timestamps(byKey[1], 'valid_from', 'created_at', 'updated_at'),
      ...timestamps(byKey[2], 'timestamp'),
      ...timestamps(byKey[3], 'last_seen'),
    ]
    for (const [field, text] of shown) expect([field, text]).toEqual([field, expect.stringMatching(wireTimestamp)])
  })
})
