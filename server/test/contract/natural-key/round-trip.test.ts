import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import type { Client, Reply } from '../../support/client.ts'
import { type LocationJson, keysOf } from '../../support/master-data.ts'
import {
  type NaturalAsset,
  type NaturalLocation,
  naturalPath,
  identifiersOf,
  createNaturalLocation,
  naturalBase,
} from '../../support/natural-key.ts'
import { propertyRuns } from '../../support/rounds.ts'
import {
  type PrimaryAsset,
  toNaturalAsset,
  toNaturalLocation,
  toPrimaryAsset,
  toPrimaryLocation,
} from '../../support/surface-mapping.ts'

const context = useApp()
const locations = ['YARD', 'HALL/A', 'ä 100%']

let full: Client
beforeAll(async () => {
  full = (await context.app.newOrg()).full
  for (const key of locations) await createNaturalLocation(full, key)
})

// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/
const text = (maxLength: number) => fc.string({ unit: 'grapheme', maxLength }).filter((one) => !control.test(one))
const filled = (maxLength: number) => text(maxLength).filter((one) => one !== '' && one !== '.' && one !== '..')
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined })

/** An instant as a client may write it, and as it is shown: in UTC, truncated to the millisecond. */
const instant = fc
  .record({
    millis: fc.integer({ min: Date.parse('1971-01-01'), max: Date.parse('2100-01-01') }),
    more: fc.stringMatching(/^\d{0,6}$/),
    hours: fc.integer({ min: -12, max: 14 }),
  })
  .map(({ millis, more, hours }) => {
    const local = new Date(millis + hours * 3_600_000).toISOString().slice(0, -1)
    const offset = `${hours < 0 ? '-' : '+'}${String(Math.abs(hours)).padStart(2, '0')}:00`
    return { written: `${local}${more}${offset}`, shown: new Date(millis).toISOString() }
  })

const period = fc
  .uniqueArray(instant, { minLength: 2, maxLength: 2, selector: ({ shown }) => shown })
  .map((two) => two.toSorted((one, other) => Date.parse(one.shown) - Date.parse(other.shown)))

const draft = fc.record({
  key: filled(20),
  name: filled(20),
  description: maybe(fc.oneof(text(30), fc.constant('two\nlines'), fc.constant(null))),
  is_active: maybe(fc.boolean()),
  period: maybe(period),
  tags: fc.array(fc.record({ type: fc.constantFrom('rfid', 'ble', 'barcode'), value: text(20) }), { maxLength: 3 }),
})

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(text(5), fc.integer(), fc.boolean(), fc.constant(null), fc.constantFrom(0.5, 1e21, 5e-324)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text(5), tie('value'), { maxKeys: 3 }),
  ),
})).value
const metadata = fc.dictionary(text(5), json, { maxKeys: 4 })

let made = 0

/** One draft in the fields of either API, with an unused key and unused tags. */
function bodies({ key, period, tags: drawn, ...shared }: typeof draft extends fc.Arbitrary<infer T> ? T : never) {
  const window = period === undefined ? {} : { valid_from: period[0]!.written, valid_to: period[1]!.written }
  const unique = `${key} ${++made}`
  const tags = drawn.map(({ type, value }, index) => ({ type, value: `${made}.${index} ${value}` }))
  return {
    key: unique,
    naturalBody: { ...shared, ...window, identifier: unique, identifiers: tags },
    primaryBody: {
      ...{ ...shared, ...window, external_key: unique },
      tags: tags.map(({ type: tag_type, value }) => ({ tag_type, value })),
    },
    /** The expected record in either API. */
    core: {
      name: shared.name,
      is_active: shared.is_active ?? true,
      ...(period === undefined ? {} : { valid_from: period[0]!.shown, valid_to: period[1]!.shown }),
      ...(typeof shared.description === 'string' ? { description: shared.description } : {}),
    },
  }
}

const dataOf = (reply: Reply, status = 200): Reply['json'] => {
  expect(reply.status, reply.text).toBe(status)
  return reply.json.data
}

const options = { numRuns: propertyRuns(25) }

describe('Any asset', () => {
  const type = maybe(fc.constantFrom('asset', 'person', 'inventory'))
  const location = maybe(fc.constantFrom(...locations))

  it('created by its key is read equal by its id, and its location is in the report (D1)', async () => {
    await fc.assert(
      fc.asyncProperty(draft, metadata, type, location, async (one, extra, kind, where) => {
        const { key, naturalBody, core } = bodies(one)
        const body = { ...naturalBody, metadata: extra, type: kind, current_location: where }
        const reply: NaturalAsset = dataOf(await full.post(`${naturalBase}/assets`, body), 201)
        expect(reply).toMatchObject({ ...core, identifier: key, type: kind ?? 'asset' })
        expect(reply.metadata).toEqual(extra)
        const id = reply.surrogate_id
        const primary: PrimaryAsset = dataOf(await full.get(`/api/v1/assets/${id}`))
        expect(primary).toEqual(toPrimaryAsset(reply))
        const report = await full.get('/api/v1/reports/asset-locations', { asset_id: id })
        const now = new Date().toISOString()
        const isListed = reply.valid_from <= now && (reply.valid_to === null || now < reply.valid_to)
        expect(report.json.data.map((row: { location_external_key: string }) => row.location_external_key)).toEqual(
          where === undefined || !isListed ? [] : [where],
        )
        expect(dataOf(await full.get(naturalPath('assets', key)))).toEqual(reply)
      }),
      options,
    )
  })

  it('created by its id is read equal by its key (D1)', async () => {
    await fc.assert(
      fc.asyncProperty(draft, metadata, async (one, extra) => {
        const { key, primaryBody, core } = bodies(one)
        const reply: PrimaryAsset = dataOf(await full.post('/api/v1/assets', { ...primaryBody, metadata: extra }), 201)
        expect(reply).toMatchObject({ ...core, external_key: key })
        expect(reply.metadata).toEqual(extra)
        const read: NaturalAsset = dataOf(await full.get(naturalPath('assets', key)))
        expect(read).toEqual({ ...toNaturalAsset(reply), type: 'asset' })
        expect(toPrimaryAsset(read)).toEqual(reply)
      }),
      options,
    )
  })

  it('changed through either API is read equal through the other', async () => {
    const change = fc.record({ draft, extra: metadata, isNatural: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(draft, fc.array(change, { minLength: 1, maxLength: 3 }), async (first, changes) => {
        const start = bodies(first)
        let key = start.key
        const { id } = dataOf(await full.post('/api/v1/assets', start.primaryBody), 201)
        for (const one of changes) {
          const next = bodies(one.draft)
          const { identifiers: _tags, ...put } = next.naturalBody
          const { tags: _same, external_key: _key, ...patch } = next.primaryBody
          const reply = one.isNatural
            ? await full.put(naturalPath('assets', key), { ...put, metadata: one.extra })
            : await full.patch(`/api/v1/assets/${id}`, patch)
          const changed: object = dataOf(reply)
          if (one.isNatural) key = next.key
          expect(changed).toMatchObject({ name: next.core.name, ...(one.isNatural ? { metadata: one.extra } : {}) })
          const primary: PrimaryAsset = dataOf(await full.get(`/api/v1/assets/${id}`))
          const read: NaturalAsset = dataOf(await full.get(naturalPath('assets', key)))
          expect(read).toEqual({ ...toNaturalAsset(primary), type: 'asset' })
          expect(one.isNatural ? read : primary).toEqual(changed)
        }
      }),
      { numRuns: propertyRuns(15) },
    )
  })
})

describe('Any location', () => {
  const parents: { key: string; id: number }[] = []

  it.each([
    ['by its key is read equal by its id', true],
    ['by its id is read equal by its key', false],
  ])('created %s, parent, path and depth included (D1, D37)', async (_how, isNatural) => {
    await fc.assert(
      fc.asyncProperty(draft, fc.nat(), async (one, pick) => {
        const { key, naturalBody, primaryBody, core } = bodies(one)
        const parent = parents[pick % (parents.length + 1)] ?? null
        const reply = isNatural
          ? await full.post(`${naturalBase}/locations`, { ...naturalBody, parent_identifier: parent?.key ?? null })
          : await full.post('/api/v1/locations', { ...primaryBody, parent_external_key: parent?.key ?? null })
        const answered: object = dataOf(reply, 201)
        expect(answered).toMatchObject(core)
        const read: NaturalLocation = dataOf(await full.get(naturalPath('locations', key)))
        const primary: LocationJson = dataOf(await full.get(`/api/v1/locations/${read.surrogate_id}`))
        const { path, depth, ...rest } = read
        expect(rest).toEqual(toNaturalLocation(primary))
        expect(primary).toEqual(toPrimaryLocation(read, parent?.id ?? null))
        expect(isNatural ? read : primary).toEqual(answered)
        const ancestors = await full.get(`/api/v1/locations/${primary.id}/ancestors`, { limit: 200 })
        expect([path, depth]).toEqual([[...keysOf(ancestors), key].join('/'), ancestors.json.total_count])
        const above = await full.get(naturalPath('locations', key, '/ancestors'), { limit: 200 })
        expect(identifiersOf(above)).toEqual(keysOf(ancestors))
        parents.push({ key, id: primary.id })
      }),
      options,
    )
  })
})
