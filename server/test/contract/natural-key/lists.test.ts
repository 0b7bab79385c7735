import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { type FieldEntry, expectApiError } from '../../support/error-response.ts'
import {
  type NaturalLocation,
  naturalPath,
  identifiersOf,
  createNaturalAsset,
  createNaturalLocation,
  naturalBase,
} from '../../support/natural-key.ts'
import { propertyRuns } from '../../support/rounds.ts'

const startedAt = Date.now()
let millis = startedAt
const context = useApp({ clock: { millis: () => millis } })

let full: Client
beforeAll(async () => {
  full = (await context.app.newOrg()).full
  for (const [key, more] of [
    ['A', {}],
    ['A-1', {}],
    ['DOCK', { parent_identifier: 'A', name: 'Loading dock' }],
    ['B', { is_active: false, identifiers: [{ value: 'LOADME' }] }],
    ['EXPIRED', { valid_from: '2020-01-01T00:00:00Z', valid_to: '2021-01-01T00:00:00Z', parent_identifier: 'A' }],
    ['LIVE', { parent_identifier: 'EXPIRED', description: 'Below what has ended' }],
    ['LATER', { valid_from: '2999-01-01T00:00:00Z' }],
  ] as [string, object][]) {
    millis++
    await createNaturalLocation(full, key, more)
  }
  for (const [identifier, more] of [
    ['jack', { name: 'Pallet jack', current_location: 'DOCK' }],
    ['ada', { name: 'Ada', type: 'person', current_location: 'A' }],
    ['bolts', { name: 'Bolts', type: 'inventory', description: 'For the jack', is_active: false }],
    ['crate', { name: 'Crate', identifiers: [{ value: 'E280JACK' }], current_location: 'DOCK' }],
    ['zed', { name: 'Zed', type: 'person', valid_to: '2021-01-01T00:00:00Z', valid_from: '2020-01-01T00:00:00Z' }],
  ] as [string, object][]) {
    millis++
    await createNaturalAsset(full, { identifier, ...more })
  }
})

const assets = (query: Record<string, string | string[] | number> = {}) => full.get(`${naturalBase}/assets`, query)
const locations = (query: Record<string, string | string[] | number> = {}) =>
  full.get(`${naturalBase}/locations`, query)

describe('The list of assets', () => {
  it.each([
    ['nothing', {}, ['ada', 'bolts', 'crate', 'jack']],
    ['a location', { location: 'DOCK' }, ['crate', 'jack']],
    ['several locations', { location: ['DOCK', 'A'] }, ['ada', 'crate', 'jack']],
    ['an unknown location', { location: 'NOWHERE' }, []],
    ['a type', { type: 'person' }, ['ada']],
    ['the usual type', { type: 'asset' }, ['crate', 'jack']],
    ['the usual type and an activity', { type: 'asset', is_active: 'true' }, ['crate', 'jack']],
    ['an unknown type', { type: 'car' }, []],
    ['an activity', { is_active: 'false' }, ['bolts']],
    ['words in name, description and identifier values', { q: 'JACK' }, ['bolts', 'crate', 'jack']],
    ['all of them', { q: 'jack', type: 'asset', location: 'DOCK', is_active: 'true' }, ['crate', 'jack']],
    ['a descending order', { sort: '-identifier' }, ['jack', 'crate', 'bolts', 'ada']],
    ['an order by name', { sort: 'name' }, ['ada', 'bolts', 'crate', 'jack']],
    ['the newest first', { sort: '-created_at' }, ['crate', 'bolts', 'ada', 'jack']],
    ['an order by change', { sort: 'updated_at' }, ['jack', 'ada', 'bolts', 'crate']],
    ['an order by two fields', { sort: '-name,identifier' }, ['jack', 'crate', 'bolts', 'ada']],
  ])('with %s contains the matching records that are valid now (D15, D37)', async (_what, query, expected) => {
    const reply = await assets(query as never)
    expect(identifiersOf(reply)).toEqual(expected)
    expect(reply.json).toMatchObject({ limit: 50, offset: 0, total_count: expected.length })
  })

  it.each([
    ['type=asset', ['crate', 'jack']],
    ['location=DOCK', ['crate', 'jack']],
    ['sort=-name', ['jack', 'crate', 'bolts', 'ada']],
  ])('is paged with the exact total: %s', async (query, expected) => {
    for (let offset = 0; offset <= expected.length; offset++) {
      const reply = await full.get(`${naturalBase}/assets?${query}&limit=1&offset=${offset}`)
      expect(identifiersOf(reply)).toEqual(expected.slice(offset, offset + 1))
      expect(reply.json).toMatchObject({ limit: 1, offset, total_count: expected.length })
    }
  })

  it('is searched by q in name, identifier, description and active identifier values, whatever the case', async () => {
    const client = (await context.app.newOrg()).full
    const one = { identifier: 'KEY-1', name: 'First', description: 'Second', identifiers: [{ value: 'Third' }] }
    const { identifiers } = await createNaturalAsset(client, { ...one, metadata: { note: 'Fourth' } })
    const found = async (q: string) => identifiersOf(await client.get(`${naturalBase}/assets`, { q }))
    for (const q of ['eY-', 'IRS', 'eCON', 'hIR']) expect(await found(q), q).toEqual(['KEY-1'])
    expect(await found('fourth')).toEqual([])
    await client.delete(naturalPath('assets', 'KEY-1', `/identifiers/${identifiers[0]!.id}`))
    expect(await found('hIR')).toEqual([])
  })

  it.each([
    ['limit=201', 'limit', 'too_large', { max: 200 }],
    ['limit=0', 'limit', 'too_small', { min: 1 }],
    ['offset=-1', 'offset', 'too_small', { min: 0 }],
    ['is_active=1', 'is_active', 'invalid_value', undefined],
    ['sort=external_key', 'sort', 'invalid_value', undefined],
    ['location=', 'location', 'too_short', { min_length: 1 }],
    [`q=${'x'.repeat(256)}`, 'q', 'too_long', { max_length: 255 }],
    ['type=asset&type=person', 'type', 'invalid_value', undefined],
    ['external_key=a', 'external_key', 'unknown_field', undefined],
    ['include_deleted=true', 'include_deleted', 'unknown_field', undefined],
    ['parent=A', 'parent', 'unknown_field', undefined],
  ])('rejects %s (D27, D37)', async (query, field, code, params) => {
    const fields = [{ field, code, ...(params === undefined ? {} : { params }) }]
    expectApiError(await full.get(`${naturalBase}/assets?${query}`), 'validation_error', { fields })
  })

  it('reports all errors of its query in the order of the URL [D7]', async () => {
    const reply = await full.get(`${naturalBase}/assets`, 'zeta=1&is_active=yes&location=&sort=colour&alpha=2')
    const codes = ['unknown_field', 'invalid_value', 'too_short', 'invalid_value', 'unknown_field']
    expectApiError(reply, 'validation_error')
    const seen = reply.json.error.fields.map((one: FieldEntry) => [one.field, one.code])
    expect(seen).toEqual(['zeta', 'is_active', 'location', 'sort', 'alpha'].map((name, index) => [name, codes[index]]))
  })

  const misplaced = ['q', 'location', 'type', 'parent', 'sort', 'limit', 'offset', 'is_active', 'from', 'to']
  const ofOtherSurface = ['include_deleted', 'external_key', 'parent_id', 'parent_external_key', 'location_id']
  ofOtherSurface.push('location_external_key', 'asset_id', 'asset_external_key', 'at')

  it.each([
    ['GET', '/assets/jack', undefined],
    ['PUT', '/assets/jack', {}],
    ['DELETE', '/assets/jack', undefined],
    ['POST', '/assets', { name: 'x' }],
    ['GET', '/locations/DOCK', undefined],
    ['PUT', '/locations/DOCK', {}],
    ['POST', '/inventory/save', {}],
  ])('has filters that are invalid_context on %s %s, like those of the other API [D27]', async (method, path, json) => {
    for (const name of [...misplaced, ...ofOtherSurface]) {
      const options = { query: `${name}=true`, ...(json === undefined ? {} : { json }) }
      const reply = await full.send(method, naturalBase + path, options)
      expectApiError(reply, 'validation_error', { fields: [{ field: name, code: 'invalid_context' }] })
    }
  })

  it('does not distinguish a filter of another list from an unknown parameter, as a detail does [D27]', async () => {
    for (const name of ['colour', 'hours', 'external_Key', 'identifier']) {
      const reply = await full.get(`${naturalBase}/assets/jack?${name}=a`)
      expectApiError(reply, 'validation_error', { fields: [{ field: name, code: 'unknown_field' }] })
    }
    for (const name of ofOtherSurface) {
      const reply = await full.get(`${naturalBase}/assets?${name}=a`)
      expectApiError(reply, 'validation_error', { fields: [{ field: name, code: 'unknown_field' }] })
    }
  })
})

describe('The list of locations', () => {
  it.each([
    ['nothing', {}, ['A', 'A-1', 'DOCK', 'LIVE', 'B']],
    ['a descending path', { sort: '-path' }, ['B', 'LIVE', 'DOCK', 'A-1', 'A']],
    ['an activity', { is_active: 'true' }, ['A', 'A-1', 'DOCK', 'LIVE']],
    ['no activity', { is_active: 'false' }, ['B']],
    ['a parent', { parent: 'A' }, ['DOCK']],
    ['several parents', { parent: ['A', 'EXPIRED'] }, ['DOCK', 'LIVE']],
    ['an unknown parent', { parent: 'NOWHERE' }, []],
    ['words', { q: 'load' }, ['DOCK', 'B']],
    ['an identifier', { sort: '-identifier' }, ['LIVE', 'DOCK', 'B', 'A-1', 'A']],
    ['a name', { sort: 'name' }, ['A', 'A-1', 'B', 'LIVE', 'DOCK']],
    ['a name and a path', { sort: 'name,path' }, ['A', 'A-1', 'B', 'LIVE', 'DOCK']],
    ['the newest first', { sort: '-created_at' }, ['LIVE', 'B', 'DOCK', 'A-1', 'A']],
  ])('with %s is ordered and contains the records that are valid now (D15, D37)', async (_what, query, expected) => {
    const reply = await locations(query as never)
    expect(identifiersOf(reply)).toEqual(expected)
    expect(reply.json).toMatchObject({ limit: 50, offset: 0, total_count: expected.length })
  })

  it('is ordered by the paths as shown', async () => {
    const paths = (reply: { json: { data: NaturalLocation[] } }) => reply.json.data.map((one) => one.path)
    expect(paths((await locations()) as never)).toEqual(['A', 'A-1', 'A/DOCK', 'A/EXPIRED/LIVE', 'B'])
  })

  it.each(['path', '-path', 'name,path'])('is paged by %s, with the exact total', async (sort) => {
    const all = identifiersOf(await locations({ sort }))
    for (let offset = 0; offset <= all.length; offset++) {
      const reply = await locations({ sort, limit: 2, offset })
      expect(identifiersOf(reply)).toEqual(all.slice(offset, offset + 2))
      expect(reply.json.total_count).toBe(all.length)
    }
  })

  it.each([
    [`q=${'x'.repeat(256)}`, 'q', 'too_long'],
    ['sort=updated_at', 'sort', 'invalid_value'],
    ['parent_identifier=A', 'parent_identifier', 'unknown_field'],
    ['type=asset', 'type', 'unknown_field'],
    ['q=%FF', 'q', 'invalid_value'],
  ])('rejects %s', async (query, field, code) => {
    const reply = await full.get(`${naturalBase}/locations?${query}`)
    expectApiError(reply, 'validation_error')
    expect(reply.json.error.fields).toMatchObject([{ field, code }])
  })
})

describe.each([
  '/assets',
  '/assets/jack/history',
  '/locations',
  '/locations/current',
  '/locations/DOCK/ancestors',
  '/locations/A/children',
  '/locations/A/descendants',
])('The paging of %s', (path) => {
  it('rejects a limit of 0 or below and a negative offset as too_small, and either of them given twice [D27]', async () => {
    const tooSmall = (field: string, min: number) => ({ field, code: 'too_small', params: { min } })
    const twice = (field: string) => ({ field, code: 'invalid_value' })
    const cases: [string, object[]][] = [
      ['offset=-1&limit=0', [tooSmall('offset', 0), tooSmall('limit', 1)]],
      ['limit=-3&colour=red', [tooSmall('limit', 1), { field: 'colour', code: 'unknown_field' }]],
      ['limit=5&offset=1&limit=5&offset=1', [twice('limit'), twice('offset')]],
    ]
    for (const [query, fields] of cases)
      expectApiError(await full.get(naturalBase + path, query), 'validation_error', { fields: fields as FieldEntry[] })
  })

  it('answers a huge offset with an empty page and the full total [D27]', async () => {
    const { total_count: total } = (await full.get(naturalBase + path)).json
    expect(total).toBeGreaterThan(0)
    const reply = await full.get(naturalBase + path, 'offset=99999999999999999999')
    expect([reply.status, reply.json.data, reply.json.total_count]).toEqual([200, [], total])
  })
})

describe('A search by q', () => {
  const paths = ['/assets', '/locations', '/locations/current']

  it.each(paths)(
    'of %s treats the percent sign and the underscore as ordinary characters, and matches everything when it is empty [D26]',
    async (path) => {
      const org = await context.app.newOrg()
      const client = org.full
      await createNaturalLocation(client, '100%_A', { name: 'x' })
      await createNaturalLocation(client, '100-XA', { name: 'x' })
      for (const identifier of ['100%_A', '100-XA'])
        await createNaturalAsset(client, { identifier, name: 'x', current_location: identifier })
      const found = async (q: string): Promise<string[]> => {
        const reply = await client.get(naturalBase + path, { q })
        expect(reply.status, reply.text).toBe(200)
        return reply.json.data.map((one: Record<string, string>) => one['identifier'] ?? one['asset']).sort()
      }
      expect(await found('100%')).toEqual(['100%_A'])
      expect(await found('%_a')).toEqual(['100%_A'])
      expect(await found('_')).toEqual(['100%_A'])
      expect(await found('1%A')).toEqual([])
      expect(await found('')).toEqual(['100%_A', '100-XA'])
    },
  )

  it('of locations/current searches the name, key and identifier values of assets, and no description or location [D26, D37]', async () => {
    const client = (await context.app.newOrg()).full
    await createNaturalLocation(client, 'PLACE')
    const identifiers = [{ value: 'TAGVALUE' }]
    const body = { identifier: 'KEY', name: 'Label', description: 'Words', current_location: 'PLACE', identifiers }
    await createNaturalAsset(client, body)
    const count = async (q: string): Promise<number> =>
      (await client.get(`${naturalBase}/locations/current`, { q })).json.total_count
    for (const q of ['label', 'key', 'agval']) expect([q, await count(q)]).toEqual([q, 1])
    for (const q of ['words', 'place']) expect([q, await count(q)]).toEqual([q, 0])
  })
})

describe('An order with equal values', () => {
  it.each([
    ['/assets', 'name'],
    ['/assets', '-created_at'],
    ['/locations', 'name'],
    ['/locations', '-created_at'],
    ['/locations/current', '-last_seen'],
    ['/locations/current', 'location'],
  ])('of %s by %s ends with the id, so pages never overlap or skip [D25, D37]', async (path, sort) => {
    const client = (await context.app.newOrg()).full
    const keys = ['a', 'b', 'c', 'd', 'e']
    for (const key of keys) await createNaturalLocation(client, key, { name: 'same' })
    for (const key of keys) await createNaturalAsset(client, { identifier: key, name: 'same', current_location: 'a' })
    const seen: string[] = []
    for (let offset = 0; offset < 6; offset += 2) {
      const { data } = (await client.get(naturalBase + path, { sort, limit: 2, offset })).json
      seen.push(...data.map((one: Record<string, string>) => one['identifier'] ?? one['asset']))
    }
    expect(seen.toSorted()).toEqual(keys)
  })
})

describe('Every list', () => {
  it.each([
    '/assets',
    '/assets/jack/history',
    '/locations',
    '/locations/DOCK/ancestors',
    '/locations/A/children',
    '/locations/A/descendants',
    '/locations/current',
  ])('%s has data, limit, offset and total_count, 50 rows by default and 200 at most', async (path) => {
    const { status, json } = await full.get(naturalBase + path)
    expect([status, Object.keys(json)]).toEqual([200, ['data', 'limit', 'offset', 'total_count']])
    expect([json.limit, json.offset, json.data.length]).toEqual([50, 0, json.total_count])
    expect(json.total_count).toBeGreaterThan(0)
    const past = await full.get(naturalBase + path, { limit: 200, offset: json.total_count })
    expect(past.json).toEqual({ data: [], limit: 200, offset: json.total_count, total_count: json.total_count })
    const rejected = await full.get(naturalBase + path, 'limit=201&offset=-1')
    const fields = [
      { field: 'limit', code: 'too_large', params: { max: 200 } },
      { field: 'offset', code: 'too_small', params: { min: 0 } },
    ]
    expectApiError(rejected, 'validation_error', { fields })
  })
})

/** A tree as parent indexes: the parent of the n-th location is an earlier one, or none. */
const part = fc.stringMatching(/^[ !\-./0Aa~ä]{1,3}$/)
const tree = fc.uniqueArray(part, { minLength: 1, maxLength: 9 }).chain((keys) =>
  fc.record({
    keys: fc.constant(keys),
    parents: fc.tuple(...keys.map((_, index) => fc.nat({ max: index }))),
    expired: fc.tuple(...keys.map(() => fc.boolean())),
  }),
)

describe('The order by path', () => {
  it('compares the path’s characters for any tree and any keys, on every page (D37)', async () => {
    let org: TestOrg
    await fc.assert(
      fc.asyncProperty(tree, fc.integer({ min: 1, max: 4 }), async ({ keys, parents, expired }, limit) => {
        org = await context.app.newOrg()
        const client = org.full
        const paths: [string, number][] = []
        const pathTo = new Map<string, string>()
        const matches = new Set<number>()
        for (const [index, key] of keys.entries()) {
          const parent = parents[index] === index ? undefined : keys[parents[index]!]
          const end = expired[index] ? { valid_from: '2020-01-01T00:00:00Z', valid_to: '2021-01-01T00:00:00Z' } : {}
          const up = parent === undefined ? {} : { parent_identifier: parent }
          const isMatch = index % 3 !== 1
          const name = isMatch ? 'Narrowed' : 'Other'
          const made = await createNaturalLocation(client, key, { ...up, ...end, name })
          const path = parent === undefined ? key : `${pathTo.get(parent)}/${key}`
          pathTo.set(key, path)
          expect([made.path, made.depth]).toEqual([path, parent === undefined ? 0 : made.depth])
          if (!expired[index]) paths.push([path, made.surrogate_id])
          if (!expired[index] && isMatch) matches.add(made.surrogate_id)
        }
        const bytes = (text: string) => Buffer.from(text)
        paths.sort(([a, one], [b, other]) => Buffer.compare(bytes(a), bytes(b)) || one - other)
        const seen: [string, number][] = []
        for (let offset = 0; offset <= paths.length; offset += limit) {
          const { json } = await client.get(`${naturalBase}/locations`, { limit, offset })
          expect(json.total_count).toBe(paths.length)
          seen.push(...json.data.map((one: NaturalLocation) => [one.path, one.surrogate_id]))
        }
        expect(seen).toEqual(paths)
        const { json } = await client.get(`${naturalBase}/locations`, { sort: '-path', limit: 200 })
        expect(json.data.map((one: NaturalLocation) => [one.path, one.surrogate_id])).toEqual(paths.toReversed())
        const narrowed = paths.filter(([, id]) => matches.has(id))
        for (const [sort, expected] of Object.entries({ path: narrowed, '-path': narrowed.toReversed() })) {
          const { json: list } = await client.get(`${naturalBase}/locations`, { q: 'narrowed', sort, limit: 200 })
          expect(list.data.map((one: NaturalLocation) => [one.path, one.surrogate_id])).toEqual(expected)
        }
      }),
      { numRuns: propertyRuns(15) },
    )
  })
})
