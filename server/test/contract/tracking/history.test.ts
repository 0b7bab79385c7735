import { beforeAll, describe, expect, it } from 'vitest'
import { Site, type SiteAsset, expectApiError, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`

let site: Site
let pallet: SiteAsset
const rows = [
  ['10:00:05.250', 'DOCK', null],
  ['10:01:05.250', 'DOCK', 60],
  ['10:30:00.000', 'HALL', 1734],
  ['11:00:59.999', 'YARD', 1859],
  ['11:01:00.000', 'HALL', 0],
] as const

const asked = async (query?: string | Record<string, string | number>) => {
  const reply = await site.api.get(`/api/v1/assets/${pallet.id}/history`, query)
  expect(reply.status).toBe(200)
  return reply.json
}

/** The times of the rows in the order of the response. */
const clocks = (list: { data: { event_observed_at: string }[] }): string[] =>
  list.data.map((row) => row.event_observed_at.slice(11, 23))

beforeAll(async () => {
  site = await Site.open(context.app, 'Dock', 'Hall', 'Yard')
  pallet = await site.createAsset('Pallet')
  const antenna = { DOCK: 1, HALL: 2, YARD: 3 }
  await site.sendReads(
    ...rows.map(([clock, key]) => ({ tag: pallet.tag, antenna: antenna[key], observed_at: at(`${clock}999`) })),
  )
})

describe('history rows', () => {
  it('are one per recorded minute, newest first, with the location and the seconds at the previous one (D28)', async () => {
    const [dock, hall, yard] = site.locations.map((location) => location.id)
    const ids = { DOCK: dock, HALL: hall, YARD: yard }
    expect(await asked()).toEqual({
      data: rows.toReversed().map(([clock, key, duration]) => ({
        event_observed_at: at(clock),
        location_id: ids[key],
        location_external_key: key,
        duration_seconds: duration,
      })),
      limit: 50,
      offset: 0,
      total_count: 5,
    })
  })

  it('do not exist for an asset that was never scanned', async () => {
    const never = await site.createAsset('Never')
    const reply = await site.api.get(`/api/v1/assets/${never.id}/history`)
    expect(reply.status).toBe(200)
    expect(reply.json).toEqual({ data: [], limit: 50, offset: 0, total_count: 0 })
  })

  it('show the key a location has today', async () => {
    const other = await Site.open(context.app, 'Bay')
    const crate = await other.createAsset('Crate')
    await other.sendReads({ tag: crate.tag, antenna: 1, observed_at: at('10:00:00') })
    await other.api.post(`/api/v1/locations/${other.locations[0]!.id}/rename`, { external_key: 'BAY-NEW' })
    expect(await other.history(crate)).toEqual([[at('10:00:00.000'), 'BAY-NEW', null]])
  })

  it('stay with the asset when its tag is attached to another asset', async () => {
    const other = await Site.open(context.app, 'Bay')
    const [first, second] = [await other.createAsset('First'), await other.createAsset('Second', { tags: [] })]
    await other.sendReads({ tag: first.tag, antenna: 1, observed_at: at('10:00:00') })
    await other.api.delete(`/api/v1/assets/${first.id}/tags/${first.tagId}`)
    await other.api.post(`/api/v1/assets/${second.id}/tags`, { tag_type: 'rfid', value: first.tag })
    await other.sendReads({ tag: first.tag, antenna: 1, observed_at: at('10:05:00') })
    expect(await other.history(first)).toEqual([[at('10:00:00.000'), 'BAY', null]])
    expect(await other.history(second)).toEqual([[at('10:05:00.000'), 'BAY', null]])
  })

  it('are kept for an asset outside its validity window (D15)', async () => {
    const other = await Site.open(context.app, 'Bay')
    const gone = await other.createAsset('Expired', {
      valid_from: '2020-01-01T00:00:00Z',
      valid_to: '2021-01-01T00:00:00Z',
    })
    await other.sendReads({ tag: gone.tag, antenna: 1, observed_at: at('10:00:00') })
    expect(await other.history(gone)).toEqual([[at('10:00:00.000'), 'BAY', null]])
  })
})

describe('sorting and paging history', () => {
  const ascending = rows.map(([clock]) => clock)
  const descending = ascending.toReversed()

  it.each([
    ['event_observed_at', ascending],
    ['-event_observed_at', descending],
  ])('sorts by %s', async (sort, expected) => {
    expect(clocks(await asked({ sort }))).toEqual(expected)
  })

  it.each([
    ['event_observed_at', ascending],
    ['-event_observed_at', descending],
  ])(
    'returns every row once over the pages of %s, each with its duration in the full series (D28)',
    async (sort, order) => {
      const seen: unknown[] = []
      for (let offset = 0; offset < 6; offset += 2) {
        const page = await asked({ sort, limit: 2, offset })
        expect(page).toMatchObject({ limit: 2, offset, total_count: 5 })
        seen.push(
          ...page.data.map((row: Record<string, string>) => [row['event_observed_at'], row['duration_seconds']]),
        )
      }
      const durations = new Map<string, number | null>(rows.map(([clock, , duration]) => [clock, duration]))
      expect(seen).toEqual(order.map((clock) => [at(clock), durations.get(clock)]))
    },
  )

  it('answers a page past the end with an empty page and the full total', async () => {
    expect(await asked({ offset: 9_007_199_254_740_991 })).toMatchObject({ data: [], total_count: 5 })
  })

  it.each([
    ['limit=0', 'limit', 'too_small', { min: 1 }],
    ['limit=201', 'limit', 'too_large', { max: 200 }],
    ['limit=2.5', 'limit', 'invalid_value', undefined],
    ['offset=-1', 'offset', 'too_small', { min: 0 }],
    ['sort=location_external_key', 'sort', 'invalid_value', undefined],
    ['sort=', 'sort', 'invalid_value', undefined],
    ['sort=event_observed_at&sort=-event_observed_at', 'sort', 'invalid_value', undefined],
    ['q=x', 'q', 'unknown_field', undefined],
    ['include_deleted=true', 'include_deleted', 'unknown_field', undefined],
    ['colour=red', 'colour', 'unknown_field', undefined],
  ])('rejects ?%s', async (query, field, code, params) => {
    const reply = await site.api.get(`/api/v1/assets/${pallet.id}/history`, query)
    expectApiError(reply, 400, 'validation_error', [{ field, code, ...(params === undefined ? {} : { params }) }])
  })
})

describe('the time range of a history', () => {
  it.each([
    ['from on a row, which is inclusive', { from: at('11:00:59.999999') }, ['11:01:00.000', '11:00:59.999']],
    ['from the millisecond after a row', { from: at('11:01:00.001') }, []],
    ['to on a row, which is inclusive', { to: at('10:01:05.250999') }, ['10:01:05.250', '10:00:05.250']],
    ['to the millisecond before a row', { to: at('10:01:05.249') }, ['10:00:05.250']],
    ['both on the same row', { from: at('10:30:00.000999'), to: at('10:30:00.000999') }, ['10:30:00.000']],
    ['whole minutes within', { from: at('10:01:00'), to: at('11:00:00') }, ['10:30:00.000', '10:01:05.250']],
    ['a numeric offset', { from: '2026-05-04T13:00:59.999+02:00' }, ['11:01:00.000', '11:00:59.999']],
    ['to before from', { from: at('11:00:00'), to: at('10:00:00') }, []],
    ['before everything', { to: at('09:00:00') }, []],
    ['after everything', { from: '2026-05-05T00:00:00Z' }, []],
    [
      'bounds far outside',
      { from: '0001-01-01T00:00:00Z', to: '9999-12-31T23:59:59Z' },
      rows.map(([clock]) => clock).toReversed(),
    ],
  ])('accepts %s', async (_, query, expected) => {
    const page = await asked(query)
    expect(clocks(page)).toEqual(expected)
    expect(page.total_count).toBe(expected.length)
  })

  it('keeps the durations of the full series, so that only the earliest row of all has null (D28)', async () => {
    const page = await asked({ from: at('10:30:00'), sort: 'event_observed_at', limit: 1, offset: 1 })
    expect(page.data).toMatchObject([{ event_observed_at: at('11:00:59.999'), duration_seconds: 1859 }])
    const first = await asked({ from: at('10:00:30'), sort: 'event_observed_at', limit: 1 })
    expect(first.data).toMatchObject([{ event_observed_at: at('10:01:05.250'), duration_seconds: 60 }])
    expect(first.total_count).toBe(4)
  })

  it.each(['', '.9', '.99', '.999', '.9999', '.99999', '.999999', '.9999990', '.99999900', '.999999000'])(
    'accepts a bound with the fraction “%s”',
    async (fraction) => {
      expect((await asked({ to: at(`11:00:59${fraction}`) })).total_count).toBe(fraction.length > 3 ? 4 : 3)
    },
  )

  it('truncates a bound to milliseconds [D25]', async () => {
    expect((await asked({ from: at('11:00:59.999999999') })).total_count).toBe(2)
  })

  const timestamps = [
    '2026-05-04',
    '2026/05/04T10:00:00Z',
    '',
    '2026-05-04T10:00:00',
    '2026-05-04 10:00:00Z',
    'yesterday',
  ]
  const odd = ['2026-02-30T10:00:00Z', '2026-05-04T24:00:00Z', '2026-05-04T10:00:00.0123456789Z', '1777888800']
  it.each([...timestamps, ...odd].flatMap((text) => [['from', text] as const, ['to', text] as const]))(
    'rejects %s=%s',
    async (name, text) => {
      const reply = await site.api.get(`/api/v1/assets/${pallet.id}/history`, { [name]: text })
      expectApiError(reply, 400, 'validation_error', [{ field: name, code: 'invalid_value' }])
      expect(reply.json.error.fields[0].message).toBe(`Invalid ${name} timestamp; expected RFC 3339`)
      expect(reply.json.error.detail).toBe(`Invalid ${name} timestamp; expected RFC 3339`)
    },
  )

  it('reports both bounds in the order of the URL (D7)', async () => {
    const reply = await site.api.get(`/api/v1/assets/${pallet.id}/history`, 'to=x&from=y')
    expectApiError(reply, 400, 'validation_error', [
      { field: 'to', code: 'invalid_value' },
      { field: 'from', code: 'invalid_value' },
    ])
    expect(reply.json.error.detail).toBe('Invalid to timestamp; expected RFC 3339 (and 1 more validation errors)')
  })
})
