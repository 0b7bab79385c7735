import { beforeAll, describe, expect, it } from 'vitest'
import {
  type SiteAsset,
  type SiteLocation,
  Site,
  database,
  expectApiError,
  useTracking,
} from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:30:00Z')

let site: Site
let [bench, shelf] = [] as unknown as [SiteLocation, SiteLocation]
let [pallet, crate] = [] as unknown as [SiteAsset, SiteAsset]
let trays = 0
let operator: Awaited<ReturnType<Site['org']['signIn']>>

beforeAll(async () => {
  site = await Site.open(context.app, 'Bench', 'Shelf')
  ;[bench, shelf] = site.locations as [SiteLocation, SiteLocation]
  pallet = await site.createAsset('Pallet')
  crate = await site.createAsset('Crate')
  operator = await site.org.signIn('operator')
})

const save = (json: object, token = operator.accessToken) =>
  context.app.anonymous('POST', '/api/v1/sightings', { token, json })
const at = (location: SiteLocation, note?: unknown, assets = [pallet]) => ({
  location_identifier: location.key,
  asset_identifiers: assets.map((one) => one.key),
  ...(note === undefined ? {} : { note }),
})
const staysOf = async (asset: SiteAsset) => {
  context.clock.set('2026-05-04T12:42:00Z')
  const path = `/api/v1/asset-stays/${asset.id}`
  const reply = await context.app.anonymous('GET', path, { token: operator.accessToken })
  expect(reply.status, reply.text).toBe(200)
  return reply.json.data
}
const notesOf = async (asset: SiteAsset) =>
  (await staysOf(asset)).map((one: { location_name: string; notes: { note: string }[] }) => [
    one.location_name,
    one.notes.map(({ note }) => note),
  ])

describe('POST /sightings', () => {
  it('records that assets are at a location and keeps the note with the operator and the time', async () => {
    context.clock.set('2026-05-04T12:30:00Z')
    const reply = await save(at(bench, 'Wheel is broken', [pallet, crate]))
    expect([reply.status, reply.json.data]).toEqual([
      201,
      { count: 2, location_id: bench.id, location_name: 'Bench', timestamp: '2026-05-04T12:30:00.000Z' },
    ])
    const note = {
      noted_at: '2026-05-04T12:30:00.000Z',
      noted_by: operator.email,
      location_id: bench.id,
      location_name: 'Bench',
      note: 'Wheel is broken',
    }
    for (const asset of [pallet, crate])
      expect(await staysOf(asset)).toMatchObject([{ location_id: bench.id, notes: [note] }])
  })

  it('shows each note in the stay that it belongs to, latest first, and the note of an overridden save as well', async () => {
    const box = await site.createAsset('Box')
    const setAt = async (time: string, location: SiteLocation, note?: string) => {
      context.clock.set(`2026-05-04T${time}Z`)
      expect((await save(at(location, note, [box]))).status).toBe(201)
    }
    await setAt('12:32:00', bench, 'wrong place')
    await setAt('12:32:30', shelf, 'right place')
    await setAt('12:35:00', shelf, 'still here')
    await setAt('12:38:00', bench)
    await setAt('12:40:00', bench, 'repaired')
    expect(await notesOf(box)).toEqual([
      ['Bench', ['repaired']],
      ['Shelf', ['still here', 'right place', 'wrong place']],
    ])
    const [, overridden] = await staysOf(box)
    expect(overridden.notes.at(-1)).toMatchObject({ location_id: bench.id, location_name: 'Bench' })
  })

  it('keeps the note with the latest minute of an asset whose reader’s clock is ahead', async () => {
    context.clock.set('2026-05-04T12:31:00Z')
    const drum = await site.createAsset('Drum')
    await site.recordSighting(shelf, [drum], '2026-05-04T12:34:00Z')
    await save(at(bench, 'moved by hand', [drum]))
    expect(await notesOf(drum)).toEqual([['Bench', ['moved by hand']]])
  })

  it('shows the latest 100 notes of a stay, and the latest 1,000 of a page of stays', async () => {
    const keg = await site.createAsset('Keg')
    const sql = database(context.app)
    const addNotes = (from: number, to: number) => sql`
      insert into sighting_notes (org_id, asset_id, minute, save_id, location_id, user_id, noted_at, note)
      select p.org_id, p.asset_id, p.last_minute, n, ${bench.id}, 1, p.last_minute + n * interval '1 millisecond', 'note ' || n
      from asset_positions p, generate_series(${from}::int, ${to}::int) n
      where p.org_id = ${site.org.orgId} and p.asset_id = ${keg.id}`
    for (let stay = 0; stay < 11; stay++) {
      context.clock.set(`2026-05-04T12:${30 + stay}:00Z`)
      expect((await save(at(stay % 2 === 0 ? bench : shelf, undefined, [keg]))).status).toBe(201)
      await addNotes(1, 100)
    }
    const counts = async () => (await staysOf(keg)).map(({ notes }: { notes: unknown[] }) => notes.length)
    expect(await counts()).toEqual([...Array<number>(10).fill(100), 0])
    await addNotes(101, 101)
    const [latest] = await staysOf(keg)
    expect(latest.notes).toHaveLength(100)
    expect([latest.notes[0].note, latest.notes[99].note]).toEqual(['note 101', 'note 2'])
  })

  it('records the sighting without a note when the note is absent or null', async () => {
    context.clock.set('2026-05-04T12:33:00Z')
    const cone = await site.createAsset('Cone')
    for (const note of [undefined, null]) expect((await save(at(bench, note, [cone]))).status).toBe(201)
    expect(await notesOf(cone)).toEqual([['Bench', []]])
  })

  it.each([
    ['an empty note', '', 'too_short', { min_length: 1 }],
    ['a note of 1,001 characters', 'x'.repeat(1001), 'too_long', { max_length: 1000 }],
    ['a control character [D13]', 'a\u0000b', 'invalid_value', undefined],
    ['a line break [D13]', 'a\nb', 'invalid_value', undefined],
  ])('rejects %s and records nothing', async (_what, note, code, params) => {
    const tray = await site.createAsset(`Tray ${++trays}`)
    const reply = await save(at(bench, note, [tray]))
    const problem = params === undefined ? { field: 'note', code } : { field: 'note', code, params }
    expectApiError(reply, 400, 'validation_error', [problem as never])
    expect(await staysOf(tray)).toEqual([])
  })

  it('accepts a note of 1,000 characters beyond the basic plane', async () => {
    const jar = await site.createAsset('Jar')
    const note = '📦'.repeat(1000)
    expect((await save(at(bench, note, [jar]))).status).toBe(201)
    expect(await notesOf(jar)).toEqual([['Bench', [note]]])
  })

  it('names unknown records, takes at most 1,000 assets and needs an operator', async () => {
    const unknown = { location_identifier: 'NOWHERE', asset_identifiers: ['NOTHING'], note: 'x' }
    expectApiError(await save(unknown), 400, 'validation_error', [
      { field: 'location_identifier', code: 'fk_not_found' },
      { field: 'asset_identifiers[0]', code: 'fk_not_found' },
    ] as never)
    const many = { ...unknown, asset_identifiers: Array.from({ length: 1001 }, (_, n) => `A${n}`) }
    expectApiError(await save(many), 400, 'validation_error', [
      { field: 'asset_identifiers', code: 'too_long', params: { max_length: 1000 } },
    ] as never)
    const most = await save({ ...many, asset_identifiers: many.asset_identifiers.slice(1) })
    expect(most.json.error.fields).toHaveLength(1001)
    expect(most.json.error.fields.map((one: { code: string }) => one.code)).not.toContain('too_long')
    const viewer = (await site.org.signIn('viewer')).accessToken
    expectApiError(await save(at(bench, 'x'), viewer), 403, 'forbidden')
  })

  it('shows no e-mail address once the user is gone', async () => {
    context.clock.set('2026-05-04T12:36:00Z')
    const vase = await site.createAsset('Vase')
    await save(at(bench, 'fragile', [vase]))
    await database(context.app)`update sighting_notes set user_id = 1 where note = 'fragile'`
    expect((await staysOf(vase))[0].notes).toMatchObject([{ note: 'fragile', noted_by: null }])
  })
})
