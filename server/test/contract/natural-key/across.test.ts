import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { expectRefusal } from '../../support/envelope.ts'
import { type LocationJson, type RecordJson, keysOf } from '../../support/master-data.ts'
import {
  type NaturalAsset,
  type NaturalLocation,
  at,
  identifiersOf,
  makeAsset,
  makeLocation,
  natural,
} from '../../support/natural.ts'
import { useBehind } from '../../support/snapshot.ts'

const context = useApp()
const behind = useBehind(context)

let org: TestOrg
let full: Client
beforeAll(async () => {
  org = await context.app.newOrg()
  full = org.full
})

type PrimaryAsset = RecordJson & { metadata: object }

/** What both kinds show of a record, under the other surface's names. */
const coreOf = (one: RecordJson) => ({
  surrogate_id: one.id,
  identifier: one.external_key,
  name: one.name,
  ...(one.description === null ? {} : { description: one.description }),
  is_active: one.is_active,
  valid_from: one.valid_from,
  ...(one.valid_to === null ? {} : { valid_to: one.valid_to }),
  identifiers: one.tags.map(({ id, tag_type: type, value }) => ({ id, type, value, is_active: true })),
  created_at: one.created_at,
  updated_at: one.updated_at,
})

const assetOf = (one: PrimaryAsset) => ({ ...coreOf(one), metadata: one.metadata })

const locationOf = (one: LocationJson) => ({
  ...coreOf(one),
  ...(one.parent_external_key === null
    ? {}
    : { parent: one.parent_external_key, parent_identifier: one.parent_external_key }),
})

const readAsset = async (identifier: string): Promise<NaturalAsset> =>
  (await full.get(at('assets', identifier))).json.data

describe('What is written on one base', () => {
  it('is read on the other: an asset and its changes, from ids to keys', async () => {
    const made = await full.post('/api/v1/assets', { external_key: 'ONE', name: 'a', metadata: { a: 1 } })
    const { id } = made.json.data
    expect(await readAsset('ONE')).toEqual({ ...assetOf(made.json.data), type: 'asset' })
    const patched = await full.patch(`/api/v1/assets/${id}`, { name: 'b', description: 'x', metadata: { b: 2 } })
    expect(await readAsset('ONE')).toEqual({ ...assetOf(patched.json.data), type: 'asset' })
    await full.post(`/api/v1/assets/${id}/tags`, { tag_type: 'ble', value: 'AA' })
    await full.post(`/api/v1/assets/${id}/rename`, { external_key: 'ONE/2' })
    const now = (await full.get(`/api/v1/assets/${id}`)).json.data
    expect(await readAsset('ONE/2')).toEqual({ ...assetOf(now), type: 'asset' })
    expectRefusal(await full.get(at('assets', 'ONE')), 'not_found')
    await full.delete(`/api/v1/assets/${id}`)
    expectRefusal(await full.get(at('assets', 'ONE/2')), 'not_found')
  })

  it('is read on the other: an asset and its changes, from keys to ids', async () => {
    const made = await makeAsset(full, { identifier: 'TWO', name: 'a', type: 'person' })
    const path = `/api/v1/assets/${made.surrogate_id}`
    const same = async (one: NaturalAsset) => {
      const { type: _type, current_location: _place, ...rest } = one
      expect(rest).toEqual(assetOf((await full.get(path)).json.data))
    }
    await same(made)
    await same((await full.put(at('assets', 'TWO'), { identifier: 'TWO/2', metadata: { a: { b: 1 } } })).json.data)
    await full.post(at('assets', 'TWO/2', '/identifiers'), { value: 'E2' })
    await same(await readAsset('TWO/2'))
    // What only one surface knows is left alone by the other.
    await full.patch(path, { name: 'c' })
    expect(await readAsset('TWO/2')).toMatchObject({ type: 'person', name: 'c' })
    await full.delete(at('assets', 'TWO/2'))
    expectRefusal(await full.get(path), 'not_found')
  })

  it('is read on the other: locations, both ways', async () => {
    const site = await makeLocation(full, 'SITE/1')
    const hall = await full.post('/api/v1/locations', { external_key: 'HALL', name: 'h', parent_id: site.surrogate_id })
    const shown = (await full.get(at('locations', 'HALL'))).json.data
    expect(shown).toEqual({ ...locationOf(hall.json.data), path: 'SITE/1/HALL', depth: 1 })
    const moved = await full.put(at('locations', 'HALL'), { parent_identifier: null, name: 'Hall' })
    const { path: _path, depth: _depth, ...rest } = moved.json.data
    expect(locationOf((await full.get(`/api/v1/locations/${shown.surrogate_id}`)).json.data)).toEqual(rest)
    await full.post(`/api/v1/locations/${site.surrogate_id}/rename`, { external_key: 'SITE' })
    expect((await full.get(at('locations', 'SITE'))).json.data.path).toBe('SITE')
  })

  it('is tracked on both: a placing shows in the report, a save in the snapshot', async () => {
    await makeLocation(full, 'YARD')
    const { surrogate_id: id } = await makeAsset(full, { identifier: 'SEEN', name: 's', current_location: 'YARD' })
    const report = await full.get('/api/v1/reports/asset-locations', { asset_id: id })
    const [row] = report.json.data
    expect(row).toMatchObject({ asset_external_key: 'SEEN', location_external_key: 'YARD' })
    const current = await full.get(`${natural}/locations/current`, { location: 'YARD' })
    expect(current.json.data).toEqual([{ asset: 'SEEN', location: 'YARD', last_seen: row.asset_last_seen }])
    const [mine] = (await full.get(at('assets', 'SEEN', '/history'))).json.data
    const [theirs] = (await full.get(`/api/v1/assets/${id}/history`)).json.data
    expect([mine.timestamp, mine.location]).toEqual([theirs.event_observed_at, theirs.location_external_key])
  })

  it('is counted alike by both lists', async () => {
    const [theirs, mine] = [await full.get('/api/v1/assets'), await full.get(`${natural}/assets`)]
    expect(identifiersOf(mine)).toEqual(keysOf(theirs))
    expect(mine.json.total_count).toBe(theirs.json.total_count)
  })

  it('takes the token of either exchange', async () => {
    const pair = await full.mint()
    const json = { grant_type: 'client_credentials', client_id: pair.clientId, client_secret: pair.clientSecret }
    const exchanged = await context.app.anonymous('POST', `${natural}/oauth/token`, { json })
    expect(exchanged.status).toBe(200)
    const token = exchanged.json.access_token
    const both = ['/api/v1/orgs/me', `${natural}/orgs/me`].map((path) => context.app.anonymous('GET', path, { token }))
    const [one, other] = await Promise.all(both)
    expect(other!.json).toEqual(one!.json)
    expect(other!.json.data).toMatchObject({ id: org.orgId, api_key_id: pair.clientId })
  })
})

describe('The token exchange of both bases', () => {
  it('is one: guesses on one are counted on the other (D41)', async () => {
    const { clientId } = await full.mint()
    const json = { grant_type: 'client_credentials', client_id: clientId, client_secret: `ls_${'0'.repeat(64)}` }
    const guess = (base: string) => context.app.anonymous('POST', `${base}/oauth/token`, { json })
    for (let count = 0; count < 10; count++)
      for (const base of ['/api/v1', natural])
        expectRefusal(await guess(base), 'unauthorized', { detail: 'Invalid client credentials' })
    for (const base of ['/api/v1', natural]) expectRefusal(await guess(base), 'rate_limited')
  })

  it('gives a token whose organization may be gone: orgs/me is then 422 on either base', async () => {
    const lost = await context.app.newOrg('Lost')
    const token = await lost.client('assets:read').token()
    await behind.sql`delete from organization_names where org_id = ${String(lost.orgId)}`
    for (const base of ['/api/v1', natural])
      expectRefusal(await context.app.anonymous('GET', `${base}/orgs/me`, { token }), 'missing_org_context')
  })
})

// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/
const text = (maxLength: number) => fc.string({ unit: 'grapheme', maxLength }).filter((one) => !control.test(one))
const filled = (maxLength: number) => text(maxLength).filter((one) => one !== '' && one !== '.' && one !== '..')
const instant = fc
  .date({ min: new Date('1971-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const flag = fc.option(fc.boolean(), { nil: undefined })
const words = fc.option(text(30), { nil: undefined })

const draft = fc.record({
  name: filled(20),
  description: words,
  is_active: flag,
  window: fc.option(fc.uniqueArray(instant, { minLength: 2, maxLength: 2 }), { nil: undefined }),
  tags: fc.uniqueArray(fc.record({ type: fc.constantFrom('rfid', 'ble', 'barcode'), value: fc.uuid() }), {
    maxLength: 3,
    selector: (tag) => tag.value,
  }),
})

let made = 0
const windowOf = (window: string[] | undefined) => {
  const [from, to] = window?.toSorted() ?? []
  return from === undefined ? {} : { valid_from: from, valid_to: to }
}

describe('Any record', () => {
  const metadata = fc.dictionary(filled(5), fc.oneof(fc.integer(), fc.boolean(), text(5), fc.constant(null)))

  it('made on one base reads back equal on the other: assets', async () => {
    await fc.assert(
      fc.asyncProperty(draft, metadata, filled(20), fc.boolean(), async (one, extra, word, isNatural) => {
        const key = `${word} ${++made}`
        const { name, description, is_active, window, tags } = one
        const shared = { name, description, is_active, ...windowOf(window), metadata: extra }
        const renamed = tags.map(({ type, value }) => ({ tag_type: type, value }))
        const reply = isNatural
          ? await full.post(`${natural}/assets`, { ...shared, identifier: key, identifiers: tags })
          : await full.post('/api/v1/assets', { ...shared, external_key: key, tags: renamed })
        expect(reply.status, reply.text).toBe(201)
        const natural1 = await readAsset(key)
        const primary = (await full.get(`/api/v1/assets/${natural1.surrogate_id}`)).json.data
        expect({ ...assetOf(primary), type: 'asset' }).toEqual(natural1)
        expect(isNatural ? natural1 : primary).toEqual(reply.json.data)
        expect(natural1).toMatchObject({ identifier: key, name, is_active: is_active ?? true, metadata: extra })
        expect(natural1.identifiers.map(({ type, value }) => ({ type, value }))).toEqual(tags)
      }),
      { numRuns: 25 },
    )
  })

  it('made on one base reads back equal on the other: locations', async () => {
    const parents: string[] = []
    await fc.assert(
      fc.asyncProperty(draft, filled(20), fc.boolean(), fc.nat(), async (one, word, isNatural, pick) => {
        const key = `${word} ${++made}`
        const parent = parents[pick % (parents.length + 1)] ?? null
        const { name, description, is_active, window, tags } = one
        const shared = { name, description, is_active, ...windowOf(window) }
        const renamed = tags.map(({ type, value }) => ({ tag_type: type, value }))
        const reply = isNatural
          ? await full.post(`${natural}/locations`, {
              ...{ ...shared, identifier: key, identifiers: tags, parent_identifier: parent },
            })
          : await full.post('/api/v1/locations', {
              ...{ ...shared, external_key: key, tags: renamed, parent_external_key: parent },
            })
        expect(reply.status, reply.text).toBe(201)
        parents.push(key)
        const { path, depth, ...rest }: NaturalLocation = (await full.get(at('locations', key))).json.data
        const primary = (await full.get(`/api/v1/locations/${rest.surrogate_id}`)).json.data
        expect(locationOf(primary)).toEqual(rest)
        expect(isNatural ? { ...rest, path, depth } : primary).toEqual(reply.json.data)
        const ancestors = await full.get(`/api/v1/locations/${rest.surrogate_id}/ancestors`, { limit: 200 })
        expect([path, depth]).toEqual([[...keysOf(ancestors), key].join('/'), ancestors.json.total_count])
      }),
      { numRuns: 25 },
    )
  })
})
