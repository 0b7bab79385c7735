import { beforeEach, describe, expect, it } from 'vitest'
import { expectApiError } from '../../support/error-response.ts'
import { naturalPath, createNaturalAsset, createNaturalLocation, naturalBase } from '../../support/natural-key.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'
import { Site, eventually, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T08:00:00.000Z')
const database = useSnapshotDatabase(context)

let site: Site
beforeEach(async () => {
  context.clock.set('2026-05-04T08:00:00.000Z')
  site = await Site.open(context.app, 'Dock', 'Hall')
})

const instant = (time: string): string => `2026-05-04T${time}Z`

describe('The history of an asset', () => {
  it('has one item per minute, newest first, without unknown fields (D28, D29, D36)', async () => {
    const jack = await site.createAsset('Jack')
    await site.sendReads(
      { tag: jack.tag, antenna: 1, observed_at: instant('07:00:10.500') },
      { tag: jack.tag, antenna: 9, observed_at: instant('07:10:00') },
      { tag: jack.tag, antenna: 2, observed_at: instant('07:20:00') },
    )
    const reply = await site.api.get(naturalPath('assets', 'JACK', '/history'))
    expect(reply.json).toEqual({
      data: [
        { timestamp: instant('07:20:00.000'), location: 'HALL', duration_seconds: 600 },
        { timestamp: instant('07:10:00.000'), duration_seconds: 589 },
        { timestamp: instant('07:00:10.500'), location: 'DOCK' },
      ],
      limit: 50,
      offset: 0,
      total_count: 3,
    })
    const some = await site.api.get(naturalPath('assets', 'JACK', '/history'), {
      from: '2026-05-04T09:10:00+02:00',
      to: instant('07:20:00'),
      sort: 'timestamp',
      limit: 1,
    })
    expect(some.json).toEqual({
      data: [{ timestamp: instant('07:10:00.000'), duration_seconds: 589 }],
      limit: 1,
      offset: 0,
      total_count: 2,
    })
  })

  it.each([
    ['from=yesterday', 'from', 'invalid_value'],
    ['sort=event_observed_at', 'sort', 'invalid_value'],
    ['location=DOCK', 'location', 'unknown_field'],
  ])('rejects %s', async (query, field, code) => {
    await site.createAsset('Jack')
    const reply = await site.api.get(`${naturalPath('assets', 'JACK', '/history')}?${query}`)
    expectApiError(reply, 'validation_error', { fields: [{ field, code }] })
  })

  it.each(['from', 'to'])('names a bad bound in its message: Invalid %s timestamp; expected RFC 3339', async (name) => {
    await site.createAsset('Jack')
    const reply = await site.api.get(naturalPath('assets', 'JACK', '/history'), { [name]: '2026-05-04' })
    const detail = `Invalid ${name} timestamp; expected RFC 3339`
    expectApiError(reply, 'validation_error', { fields: [{ field: name, code: 'invalid_value' }], detail })
  })

  it('keeps the time at a location that was deleted later, without its name (D29)', async () => {
    const jack = await site.createAsset('Jack')
    await site.sendReads({ tag: jack.tag, antenna: 1, observed_at: instant('07:00:00') })
    await site.sendReads({ tag: jack.tag, antenna: 2, observed_at: instant('07:10:00') })
    expect((await site.api.delete(naturalPath('locations', 'DOCK'))).status).toBe(204)
    const { json } = await site.api.get(naturalPath('assets', 'JACK', '/history'))
    expect(json.data).toEqual([
      { timestamp: instant('07:10:00.000'), location: 'HALL', duration_seconds: 600 },
      { timestamp: instant('07:00:00.000') },
    ])
  })

  it('is 404 for an unknown asset', async () => {
    expectApiError(await site.api.get(naturalPath('assets', 'NOBODY', '/history')), 'not_found')
  })
})

describe('The snapshot of current locations', () => {
  beforeEach(async () => {
    const assets = [await site.createAsset('Jack'), await site.createAsset('Crate'), await site.createAsset('Stray')]
    await site.createAsset('Unseen')
    for (const [index, asset] of assets.entries())
      await site.sendReads({
        tag: asset.tag,
        antenna: index === 2 ? 9 : index + 1,
        observed_at: instant(`07:0${index}:00`),
      })
  })

  const all = {
    jack: { asset: 'JACK', location: 'DOCK', last_seen: instant('07:00:00.000') },
    crate: { asset: 'CRATE', location: 'HALL', last_seen: instant('07:01:00.000') },
    stray: { asset: 'STRAY', last_seen: instant('07:02:00.000') },
  }

  it.each([
    ['', [all.stray, all.crate, all.jack]],
    ['sort=last_seen', [all.jack, all.crate, all.stray]],
    ['sort=asset', [all.crate, all.jack, all.stray]],
    ['sort=location', [all.jack, all.crate, all.stray]],
    ['location=DOCK', [all.jack]],
    ['location=DOCK&location=HALL', [all.crate, all.jack]],
    ['q=RA', [all.stray, all.crate]],
    ['location=NOWHERE', []],
  ])('with “%s” has one item per matching scanned asset (D37)', async (query, expected) => {
    const reply = await site.api.get(`${naturalBase}/locations/current?${query}`)
    expect(reply.json).toEqual({ data: expected, limit: 50, offset: 0, total_count: expected.length })
  })

  it('has no deleted assets, and shows changed keys', async () => {
    await site.api.delete(naturalPath('assets', 'STRAY'))
    await site.api.put(naturalPath('assets', 'JACK'), { identifier: 'JACK/2' })
    await site.api.put(naturalPath('locations', 'DOCK'), { identifier: 'DOCK/2' })
    const reply = await site.api.get(`${naturalBase}/locations/current`)
    expect(reply.json.data).toEqual([all.crate, { ...all.jack, asset: 'JACK/2', location: 'DOCK/2' }])
    expect(reply.json.total_count).toBe(2)
  })

  it('leaves out a deleted location, which then matches no filter [D29]', async () => {
    await database.sql`update locations set deleted_at = now() where id = ${site.locations[0]!.id}`
    const { location: _gone, ...rest } = all.jack
    const reply = await site.api.get(`${naturalBase}/locations/current`, { sort: 'last_seen', limit: 1 })
    expect(reply.json.data).toEqual([rest])
    expect((await site.api.get(`${naturalBase}/locations/current`, { location: 'DOCK' })).json.total_count).toBe(0)
  })

  it('is paged', async () => {
    const reply = await site.api.get(`${naturalBase}/locations/current`, { limit: 1, offset: 1 })
    expect(reply.json).toEqual({ data: [all.crate], limit: 1, offset: 1, total_count: 3 })
  })

  it.each([
    ['sort=asset_last_seen', 'sort', 'invalid_value'],
    ['asset=JACK', 'asset', 'unknown_field'],
    ['limit=500', 'limit', 'too_large'],
    [`q=${'x'.repeat(256)}`, 'q', 'too_long'],
    ['include_deleted=true', 'include_deleted', 'unknown_field'],
    ['at=2026-05-04T07:00:00Z', 'at', 'unknown_field'],
  ])('rejects %s', async (query, field, code) => {
    const reply = await site.api.get(`${naturalBase}/locations/current?${query}`)
    expectApiError(reply, 'validation_error')
    expect(reply.json.error.fields).toMatchObject([{ field, code }])
  })
})

describe.each(['/api/v1', naturalBase])('Inventory save on %s', (base) => {
  const save = (location: string, keys: unknown) =>
    site.api.post(`${base}/inventory/save`, { location_identifier: location, asset_identifiers: keys })

  it('records every asset at the location now and returns the result (D38)', async () => {
    for (const name of ['Jack', 'Crate']) await site.createAsset(name)
    const reply = await save('DOCK', ['JACK', 'CRATE', 'JACK'])
    expect([reply.status, reply.json]).toEqual([
      201,
      {
        data: {
          count: 2,
          location_id: site.locations[0]!.id,
          location_name: 'Dock',
          timestamp: instant('08:00:00.000'),
        },
      },
    ])
    expect(await site.assetLocations()).toEqual({
      JACK: ['DOCK', instant('08:00:00.000')],
      CRATE: ['DOCK', instant('08:00:00.000')],
    })
  })

  it('does not change updated_at of the assets [D21]', async () => {
    const jack = await site.createAsset('Jack')
    const before = (await site.api.get(`/api/v1/assets/${jack.id}`)).json
    context.clock.set(instant('08:05:00'))
    await site.sendReads({ tag: jack.tag, antenna: 1, observed_at: instant('08:04:00') })
    expect((await save('HALL', ['JACK'])).status).toBe(201)
    expect((await site.api.get(`/api/v1/assets/${jack.id}`)).json).toEqual(before)
  })

  it('does not find a location or an asset of another organization [D38]', async () => {
    const other = await Site.open(context.app, 'Yard')
    await other.createAsset('Theirs')
    const fields = ['location_identifier', 'asset_identifiers[0]'].map((field) => ({ field, code: 'fk_not_found' }))
    expectApiError(await save('YARD', ['THEIRS']), 'validation_error', { fields })
  })

  it('wins the minute against a reader, and emits a move from the location it overrode (D38)', async () => {
    const jack = await site.createAsset('Jack')
    await site.sendReads({ tag: jack.tag, antenna: 1, observed_at: instant('08:00:00') })
    context.clock.set(instant('08:00:20'))
    await save('HALL', ['JACK'])
    expect(await site.assetLocations()).toEqual({ JACK: ['HALL', instant('08:00:20.000')] })
    expect((await site.moves()).map((move) => [move.from, move.to])).toEqual([
      [null, 'Dock'],
      ['Dock', 'Hall'],
    ])
  })

  it.each([
    ['an unknown location', 'NOWHERE', ['JACK'], ['location_identifier']],
    ['unknown assets', 'DOCK', ['A', 'JACK', 'B', 'A'], ['asset_identifiers[0]', 'asset_identifiers[2]']],
    ['both', 'NOWHERE', ['JACK', 'A'], ['location_identifier', 'asset_identifiers[1]']],
  ])('is 400 for %s and saves nothing (D38)', async (_what, location, keys, fields) => {
    await site.createAsset('Jack')
    const before = await database.snapshot(site.org.orgId)
    const reply = await save(location, keys)
    expectApiError(reply, 'validation_error', { fields: fields.map((field) => ({ field, code: 'fk_not_found' })) })
    expect(await database.snapshot(site.org.orgId)).toBe(before)
  })

  it('does not find deleted assets and locations', async () => {
    const jack = await site.createAsset('Jack')
    await site.api.delete(`/api/v1/assets/${jack.id}`)
    await site.api.delete(naturalPath('locations', 'HALL'))
    const reply = await save('HALL', ['JACK'])
    expect(reply.json.error.fields).toMatchObject([{ field: 'location_identifier' }, { field: 'asset_identifiers[0]' }])
  })

  it.each([
    ['no assets', [], 'asset_identifiers', 'too_short', { min_length: 1 }],
    ['too many', Array(10_001).fill('x'), 'asset_identifiers', 'too_long', { max_length: 10_000 }],
    ['an empty key', ['JACK', ''], 'asset_identifiers[1]', 'too_short', { min_length: 1 }],
    ['a key of 256 characters', ['x'.repeat(256)], 'asset_identifiers[0]', 'too_long', { max_length: 255 }],
    ['a number', [5], 'asset_identifiers[0]', 'invalid_value', { expected_type: 'string', received_type: 'integer' }],
    ['no list', 'JACK', 'asset_identifiers', 'invalid_value', { expected_type: 'array', received_type: 'string' }],
  ])('is 400 for %s', async (_what, keys, field, code, params) => {
    expectApiError(await save('DOCK', keys), 'validation_error', { fields: [{ field, code, params }] })
  })

  it('takes 10,000 assets [D38]', async () => {
    await site.createAsset('Barrow')
    expect((await save('DOCK', Array<string>(10_000).fill('BARROW'))).status).toBe(201)
  })

  it('requires both fields and accepts no others', async () => {
    const nothing = await site.api.post(`${base}/inventory/save`, {})
    const fields = ['location_identifier', 'asset_identifiers'].map((field) => ({ field, code: 'required' }))
    expectApiError(nothing, 'validation_error', { fields })
    const more = await site.api.post(`${base}/inventory/save`, { at: 'now' })
    expectApiError(more, 'validation_error', { fields: [{ field: 'at', code: 'unknown_field' }] })
  })

  it('accepts ten thousand assets at once', async () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => `BULK-${index}`)
    await database.sql`insert into assets (org_id, id, external_key, name, metadata, is_active, valid_from, created_at,
        updated_at, search_text)
      select ${String(site.org.orgId)}::bigint, 4000000000000000 + ${String(site.org.orgId % 1e9)}::bigint * 10000 + n,
        'BULK-' || n, 'b', '{}', true, now(), now(), now(), 'b' from generate_series(0, 9999) n`
    const reply = await save('DOCK', keys)
    expect([reply.status, reply.json.data.count]).toEqual([201, 10_000])
    const current = await site.api.get(`${naturalBase}/locations/current`, { location: 'DOCK', limit: 1 })
    expect(current.json.total_count).toBe(10_000)
  })

  it('accepts ten thousand identifiers of 255 characters [D48]', async () => {
    const { orgId } = site.org
    const keys = Array.from({ length: 10_000 }, (_, index) => String(index).padStart(255, 'K'))
    await database.sql`insert into assets (org_id, id, external_key, name, metadata, is_active, valid_from, created_at,
        updated_at, search_text)
      select ${String(orgId)}::bigint, 4000000000000000 + ${String(orgId % 1e9)}::bigint * 10000 + n,
        lpad(n::text, 255, 'K'), 'b', '{}', true, now(), now(), now(), 'b' from generate_series(0, 9999) n`
    const reply = await save('DOCK', keys)
    expect([reply.status, reply.json.data?.count], reply.text.slice(0, 300)).toEqual([201, 10_000])
  })
})

describe('A client of the live stream', () => {
  it('receives moves of a current_location and of an inventory save', async () => {
    const received: string[] = []
    const stop = new AbortController()
    const { url } = context.app
    const headers = { authorization: `Bearer ${await site.api.token()}`, 'user-agent': 'lastseen-tests' }
    const stream = await fetch(`${url}/api/v1/live`, { headers, signal: stop.signal })
    const reading = (async () => {
      for await (const chunk of stream.body!) received.push(Buffer.from(chunk as Uint8Array).toString())
    })().catch(() => undefined)
    await createNaturalLocation(site.api, 'YARD')
    await createNaturalAsset(site.api, { identifier: 'PLACED', name: 'p', current_location: 'YARD' })
    await eventually(async () => expect(received.join('')).toContain('"external_key":"PLACED"'))
    await site.createAsset('Jack')
    await site.api.post(`${naturalBase}/inventory/save`, { location_identifier: 'YARD', asset_identifiers: ['JACK'] })
    await eventually(async () => expect(received.join('')).toContain('"external_key":"JACK"'))
    stop.abort()
    await reading
  })
})
