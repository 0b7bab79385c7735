import { beforeEach, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'
import { expectValidationError } from '../../support/master-data.ts'
import {
  type NaturalRecord,
  naturalPath,
  identifiersOf,
  createNaturalAsset,
  createNaturalLocation,
  naturalBase,
} from '../../support/natural-key.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const startedAt = Date.parse('2026-05-04T08:00:00.000Z')
let millis = startedAt
const context = useApp({ clock: { millis: () => millis } })
const database = useSnapshotDatabase(context)

let org: TestOrg
let full: Client
beforeEach(async () => {
  millis = startedAt
  org = await context.app.newOrg()
  full = org.full
})

const created = '2026-05-04T08:00:00.000Z'

describe('Creating a location', () => {
  it('answers 201 with its path and depth, and leaves out what is unset (D36, D37)', async () => {
    const reply = await full.post(`${naturalBase}/locations`, { identifier: 'HALL/A', name: 'Hall A' })
    expect([reply.status, reply.headers['location']]).toEqual([201, '/natural/api/v1/locations/HALL%2FA'])
    expect(reply.json).toEqual({
      data: {
        surrogate_id: expect.any(Number),
        identifier: 'HALL/A',
        name: 'Hall A',
        path: 'HALL/A',
        depth: 0,
        is_active: true,
        valid_from: created,
        valid_to: null,
        identifiers: [],
        created_at: created,
        updated_at: created,
      },
    })
  })

  it('accepts every field of the schema, and shows its parent in both fields', async () => {
    await createNaturalLocation(full, 'SITE')
    await createNaturalLocation(full, 'HALL', { parent_identifier: 'SITE' })
    const body = {
      identifier: 'DOCK',
      name: 'Dock',
      description: 'North',
      parent_identifier: 'HALL',
      is_active: false,
      valid_from: '2026-01-01T00:00:00Z',
      valid_to: '2028-01-01T00:00:00Z',
      identifiers: [{ type: 'barcode', value: 'D' }],
    }
    const made = await createNaturalLocation(full, 'DOCK', body)
    expect(made).toEqual({
      ...body,
      surrogate_id: expect.any(Number),
      parent: 'HALL',
      path: 'SITE/HALL/DOCK',
      depth: 2,
      valid_from: '2026-01-01T00:00:00.000Z',
      valid_to: '2028-01-01T00:00:00.000Z',
      identifiers: [{ id: expect.any(Number), type: 'barcode', value: 'D', is_active: true }],
      created_at: created,
      updated_at: created,
    })
    expect((await full.get(naturalPath('locations', 'DOCK'))).json.data).toEqual(made)
  })

  it.each([
    ['no identifier', { identifier: undefined }, 'identifier', 'required'],
    ['an empty identifier', { identifier: '' }, 'identifier', 'too_short'],
    ['no name', { name: undefined }, 'name', 'required'],
    ['a parent that is not there', { parent_identifier: 'NOWHERE' }, 'parent_identifier', 'fk_not_found'],
    ['an empty parent', { parent_identifier: '' }, 'parent_identifier', 'too_short'],
    ['the read form of the parent', { parent: 'SITE' }, 'parent', 'unknown_field'],
    ['a path', { path: 'A/B' }, 'path', 'unknown_field'],
    ['metadata, which locations have none of', { metadata: {} }, 'metadata', 'unknown_field'],
    ['a null start', { valid_from: null }, 'valid_from', 'invalid_value'],
  ])('rejects %s and changes nothing', async (_what, body, field, code) => {
    const before = await database.snapshot(org.orgId)
    const reply = await full.post(`${naturalBase}/locations`, { identifier: 'X', name: 'x', ...body })
    expectApiError(reply, 'validation_error')
    expect(reply.json.error.fields).toMatchObject([{ field, code }])
    expect(reply.text).not.toContain('external_key')
    expect(await database.snapshot(org.orgId)).toBe(before)
  })

  it('is 409 for an identifier in use', async () => {
    await createNaturalLocation(full, 'X')
    const reply = await full.post(`${naturalBase}/locations`, { identifier: 'X', name: 'x' })
    expectApiError(reply, 'conflict', { detail: 'Location with this identifier already exists' })
  })
})

describe('PUT on a location', () => {
  it('changes only the fields in the body', async () => {
    await createNaturalLocation(full, 'HALL')
    const before = await createNaturalLocation(full, 'DOCK', { parent_identifier: 'HALL', description: 'a' })
    millis += 1000
    const reply = await full.put(naturalPath('locations', 'DOCK'), { name: 'Dock 3', is_active: false })
    expect(reply.status).toBe(200)
    const updated = { name: 'Dock 3', is_active: false, updated_at: '2026-05-04T08:00:01.000Z' }
    expect(reply.json.data).toEqual({ ...before, ...updated })
    expect((await full.get(naturalPath('locations', 'DOCK'))).json.data).toEqual(reply.json.data)
  })

  it('moves it with its subtree, whose paths change while their rows do not (D20, D37)', async () => {
    await createNaturalLocation(full, 'A')
    await createNaturalLocation(full, 'B')
    await createNaturalLocation(full, 'C', { parent_identifier: 'A' })
    const below = await createNaturalLocation(full, 'D', { parent_identifier: 'C' })
    millis += 1000
    const moved = await full.put(naturalPath('locations', 'C'), { parent_identifier: 'B' })
    expect(moved.json.data).toMatchObject({ parent: 'B', parent_identifier: 'B', path: 'B/C', depth: 1 })
    expect((await full.get(naturalPath('locations', 'D'))).json.data).toEqual({ ...below, path: 'B/C/D' })
    const renamed = await full.put(naturalPath('locations', 'B'), { identifier: 'B2' })
    expect(renamed.json.data).toMatchObject({ identifier: 'B2', path: 'B2' })
    expect((await full.get(naturalPath('locations', 'D'))).json.data).toEqual({ ...below, path: 'B2/C/D' })
  })

  it('makes it a root with a null parent (D36)', async () => {
    await createNaturalLocation(full, 'A')
    await createNaturalLocation(full, 'C', { parent_identifier: 'A' })
    const { data } = (await full.put(naturalPath('locations', 'C'), { parent_identifier: null })).json
    expect([data.path, data.depth, 'parent' in data, 'parent_identifier' in data]).toEqual(['C', 0, false, false])
  })

  it('renames and moves at once', async () => {
    for (const key of ['A', 'B']) await createNaturalLocation(full, key)
    const reply = await full.put(naturalPath('locations', 'B'), { identifier: 'B/2', parent_identifier: 'A' })
    expect(reply.json.data).toMatchObject({ identifier: 'B/2', path: 'A/B/2', depth: 1 })
  })

  it.each([
    ['itself', { parent_identifier: 'A' }],
    ['one below it', { parent_identifier: 'C' }],
    ['an identifier in use', { identifier: 'C' }],
  ])('is 409 for %s and changes nothing (D23)', async (_what, body) => {
    await createNaturalLocation(full, 'A')
    await createNaturalLocation(full, 'B', { parent_identifier: 'A' })
    await createNaturalLocation(full, 'C', { parent_identifier: 'B' })
    const before = await database.snapshot(org.orgId)
    const reply = await full.put(naturalPath('locations', 'A'), body)
    expectApiError(reply, 'conflict')
    expect(reply.text).not.toContain('external_key')
    expect(await database.snapshot(org.orgId)).toBe(before)
  })

  it('is 400 for an unknown parent', async () => {
    await createNaturalLocation(full, 'A')
    const reply = await full.put(naturalPath('locations', 'A'), { parent_identifier: 'NOWHERE' })
    expectApiError(reply, 'validation_error', { fields: [{ field: 'parent_identifier', code: 'fk_not_found' }] })
  })

  it('is 400 for a parent that was deleted or belongs to another organization, and so is a create [D23]', async () => {
    await createNaturalLocation(full, 'A')
    await createNaturalLocation(full, 'GONE')
    await full.delete(naturalPath('locations', 'GONE'))
    await createNaturalLocation((await context.app.newOrg()).full, 'FOREIGN')
    const before = await database.snapshot(org.orgId)
    for (const key of ['GONE', 'FOREIGN'])
      for (const reply of [
        await full.put(naturalPath('locations', 'A'), { parent_identifier: key }),
        await full.post(`${naturalBase}/locations`, { identifier: 'B', name: 'b', parent_identifier: key }),
      ])
        expectApiError(reply, 'validation_error', { fields: [{ field: 'parent_identifier', code: 'fk_not_found' }] })
    expect(await database.snapshot(org.orgId)).toBe(before)
  })

  it('reports errors in the body before a conflict [D6]', async () => {
    for (const key of ['A', 'B']) await createNaturalLocation(full, key)
    for (const conflict of [{ identifier: 'B' }, { parent_identifier: 'A' }]) {
      const reply = await full.put(naturalPath('locations', 'A'), { ...conflict, valid_to: '2020-01-01T00:00:00Z' })
      expectApiError(reply, 'validation_error', { fields: [{ field: 'valid_to', code: 'invalid_value' }] })
    }
  })

  it('is 404 for an unknown identifier', async () => {
    expectApiError(await full.put(naturalPath('locations', 'NOBODY'), {}), 'not_found', {
      detail: 'Location not found',
    })
  })
})

describe.each(['assets', 'locations'] as const)('A record of %s', (kind) => {
  const make = async (more: object = {}): Promise<NaturalRecord> => {
    const reply = await full.post(`${naturalBase}/${kind}`, { identifier: 'X', name: 'x', ...more })
    expect(reply.status, reply.text).toBe(201)
    return reply.json.data
  }
  const read = async (): Promise<NaturalRecord> => (await full.get(naturalPath(kind, 'X'))).json.data

  it('gets a later updated_at with every PUT and with its deletion, also within one millisecond [D21]', async () => {
    const times = [(await make()).updated_at]
    for (const body of [{}, { name: 'y' }, {}])
      times.push((await full.put(naturalPath(kind, 'X'), body)).json.data.updated_at)
    await full.delete(naturalPath(kind, 'X'))
    const [gone] = (await full.get(`/api/v1/${kind}`, { include_deleted: true })).json.data
    expect([...times, gone.updated_at]).toEqual([0, 1, 2, 3, 4].map((ms) => new Date(startedAt + ms).toISOString()))
  })

  it('keeps its updated_at when an identifier is attached or detached [D21]', async () => {
    const { updated_at: before } = await make()
    millis += 1000
    const attached = await full.post(naturalPath(kind, 'X', '/identifiers'), { value: 'E280' })
    expect(await read()).toMatchObject({ updated_at: before, identifiers: [attached.json.data] })
    await full.delete(naturalPath(kind, 'X', `/identifiers/${attached.json.data.id}`))
    expect(await read()).toMatchObject({ updated_at: before, identifiers: [] })
  })

  it('frees its identifiers with its deletion [D22]', async () => {
    const identifiers = [{ type: 'ble', value: 'AA:BB:CC:00:11:22' }]
    await make({ identifiers })
    await full.delete(naturalPath(kind, 'X'))
    const other = await createNaturalAsset(full, {
      name: 'other',
      identifiers: [{ type: 'ble', value: 'aabbcc001122' }],
    })
    expect(other.identifiers).toMatchObject([{ value: 'aabbcc001122' }])
  })

  it('is created with all of its identifiers or not at all, and errors name the path of the leaf [D17]', async () => {
    await createNaturalAsset(full, { name: 'a', identifiers: [{ value: 'TAKEN' }] })
    const before = await database.snapshot(org.orgId)
    const create = (...identifiers: object[]) =>
      full.post(`${naturalBase}/${kind}`, { identifier: 'X', name: 'x', identifiers })
    expectApiError(await create({ value: 'FREE' }, { value: 'taken' }), 'conflict')
    const fields = [{ field: 'identifiers[1].value', code: 'too_short', params: { min_length: 1 } }]
    expectApiError(await create({ value: 'FREE' }, { value: '' }), 'validation_error', { fields })
    expect(await database.snapshot(org.orgId)).toBe(before)
  })

  it('cannot have a valid_to at or before its valid_from, checked on PUT after the merge [D15]', async () => {
    const window = { valid_from: '2026-01-01T00:00:00Z', valid_to: '2026-02-01T00:00:00Z' }
    await make(window)
    for (const body of [
      { valid_to: window.valid_from },
      { valid_from: window.valid_to },
      { valid_from: '2026-03-01T00:00:00Z', valid_to: '2026-02-28T00:00:00Z' },
    ]) {
      const expected = { fields: [{ field: 'valid_to', code: 'invalid_value' }] }
      expectApiError(await full.put(naturalPath(kind, 'X'), body), 'validation_error', expected)
      const created = await full.post(`${naturalBase}/${kind}`, { identifier: 'Y', name: 'y', ...window, ...body })
      expectApiError(created, 'validation_error', expected)
    }
    expect(await read()).toMatchObject({ valid_to: '2026-02-01T00:00:00.000Z' })
  })

  it('is read, changed and deleted by its key outside its validity window, where the list leaves it out [D15]', async () => {
    const made = await make({ valid_from: '2020-01-01T00:00:00Z', valid_to: '2021-01-01T00:00:00Z' })
    expect(identifiersOf(await full.get(`${naturalBase}/${kind}`))).toEqual([])
    expect(await read()).toEqual(made)
    expect((await full.put(naturalPath(kind, 'X'), { name: 'y' })).json.data.name).toBe('y')
    expect((await full.delete(naturalPath(kind, 'X'))).status).toBe(204)
  })

  it('stores text unchanged, counted in code points, with tabs and line breaks in the description only [D13]', async () => {
    const long = '😀'.repeat(255)
    const made = await make({ name: long, description: ' a\tb\r\nc ', identifiers: [{ value: ' e\u0301/% ' }] })
    expect([made.name, made.description, made.identifiers[0]!.value]).toEqual([long, ' a\tb\r\nc ', ' e\u0301/% '])
    const put = (body: object) => full.put(naturalPath(kind, 'X'), body)
    const attach = (value: string) => full.post(naturalPath(kind, 'X', '/identifiers'), { value })
    for (const bad of ['a\u0000', 'a\u001f', 'a\u007f', '\ud83d', 'a\tb', 'a\nb']) {
      expectValidationError(await put({ name: bad }), ['name', 'invalid_value'])
      expectValidationError(await put({ identifier: bad }), ['identifier', 'invalid_value'])
      expectValidationError(await attach(bad), ['value', 'invalid_value'])
      if (!/[\t\n]/.test(bad)) expectValidationError(await put({ description: bad }), ['description', 'invalid_value'])
      if (kind === 'assets')
        expectValidationError(await put({ metadata: { a: [bad] } }), ['metadata.a[0]', 'invalid_value'])
    }
    expectValidationError(await put({ name: `${long}x` }), ['name', 'too_long', { max_length: 255 }])
    expectValidationError(await put({ description: '\n'.repeat(1025) }), [
      'description',
      'too_long',
      { max_length: 1024 },
    ])
  })

  it('reports a wrong type with expected_type and received_type, also null where a value is required [D14]', async () => {
    await make()
    const wrong: [string, unknown, string, string][] = [
      ['identifier', null, 'string', 'null'],
      ['name', 1.5, 'string', 'number'],
      ['description', [], 'string', 'array'],
      ['is_active', 'true', 'boolean', 'string'],
      ['valid_from', null, 'string', 'null'],
      ['valid_to', 7, 'string', 'integer'],
      kind === 'assets' ? ['metadata', true, 'object', 'boolean'] : ['parent_identifier', {}, 'string', 'object'],
    ]
    for (const [field, value, expected, received] of wrong) {
      const params = { expected_type: expected, received_type: received }
      expectValidationError(await full.put(naturalPath(kind, 'X'), { [field]: value }), [
        field,
        'invalid_value',
        params,
      ])
    }
  })
})

describe('Deleting', () => {
  it('is 204, and 404 the second time; the record leaves its list and the identifier is free at once', async () => {
    for (const kind of ['assets', 'locations'] as const) {
      const make = () => full.post(`${naturalBase}/${kind}`, { identifier: 'X', name: 'x' })
      const listed = async () => identifiersOf(await full.get(`${naturalBase}/${kind}`, { q: 'x' }))
      await make()
      expect(await listed()).toEqual(['X'])
      const reply = await full.delete(naturalPath(kind, 'X'))
      expect([reply.status, reply.text]).toEqual([204, ''])
      expectApiError(await full.delete(naturalPath(kind, 'X')), 'not_found')
      expectApiError(await full.delete(naturalPath(kind, 'NEVER')), 'not_found')
      expectApiError(await full.get(naturalPath(kind, 'X')), 'not_found')
      expect(await listed()).toEqual([])
      expect((await make()).status).toBe(201)
    }
  })

  it('a location is 409 while it has child locations or assets', async () => {
    await createNaturalLocation(full, 'A')
    await createNaturalLocation(full, 'B', { parent_identifier: 'A' })
    await createNaturalAsset(full, { identifier: 'T', name: 't', current_location: 'B' })
    for (const key of ['A', 'B']) expectApiError(await full.delete(naturalPath('locations', key)), 'conflict')
    expect((await full.delete(naturalPath('assets', 'T'))).status).toBe(204)
    for (const key of ['B', 'A']) expect((await full.delete(naturalPath('locations', key))).status).toBe(204)
  })
})

describe('The identifiers of a record', () => {
  it.each(['assets', 'locations'] as const)('are attached and detached on %s (D36)', async (kind) => {
    await full.post(`${naturalBase}/${kind}`, { identifier: 'X/1', name: 'x' })
    const path = naturalPath(kind, 'X/1', '/identifiers')
    const first = await full.post(path, { value: 'E280' })
    expect([first.status, first.json]).toEqual([
      201,
      { data: { id: expect.any(Number), type: 'rfid', value: 'E280', is_active: true } },
    ])
    millis += 1
    const second = await full.post(path, { type: 'barcode', value: '40' })
    const shown = (await full.get(naturalPath(kind, 'X/1'))).json.data.identifiers
    expect(shown).toEqual([first.json.data, second.json.data])
    const reply = await full.delete(`${path}/${first.json.data.id}`)
    expect([reply.status, reply.text]).toEqual([204, ''])
    expect((await full.get(naturalPath(kind, 'X/1'))).json.data.identifiers).toEqual([second.json.data])
    expectApiError(await full.delete(`${path}/${first.json.data.id}`), 'not_found')
  })

  it.each([
    ['no value', { type: 'rfid' }, 'value', 'required'],
    ['an empty value', { value: '' }, 'value', 'too_short'],
    ['an unknown type', { type: 'qr', value: 'x' }, 'type', 'invalid_value'],
    ['the other surface’s type', { tag_type: 'rfid', value: 'x' }, 'tag_type', 'unknown_field'],
  ])('are rejected with %s', async (_what, body, field, code) => {
    await createNaturalAsset(full, { identifier: 'X', name: 'x' })
    const reply = await full.post(naturalPath('assets', 'X', '/identifiers'), body)
    expectApiError(reply, 'validation_error')
    expect(reply.json.error.fields).toMatchObject([{ field, code }])
  })

  it.each(['assets', 'locations'] as const)('are 409 on %s when another record has them (D22)', async (kind) => {
    await createNaturalAsset(full, { name: 'a', identifiers: [{ value: 'e280' }] })
    await full.post(`${naturalBase}/${kind}`, { identifier: 'X', name: 'x' })
    expectApiError(await full.post(naturalPath(kind, 'X', '/identifiers'), { value: 'E280' }), 'conflict')
  })

  it.each(['assets', 'locations'] as const)('are 404 on %s under another record’s path (D24)', async (kind) => {
    const { identifiers } = await createNaturalAsset(full, { name: 'a', identifiers: [{ value: 'e280' }] })
    await full.post(`${naturalBase}/${kind}`, { identifier: 'X', name: 'x' })
    const id = identifiers[0]!.id
    expectApiError(await full.delete(naturalPath(kind, 'X', `/identifiers/${id}`)), 'not_found')
    expectApiError(await full.delete(naturalPath(kind, 'NOBODY', `/identifiers/${id}`)), 'not_found')
    expectApiError(await full.post(naturalPath(kind, 'NOBODY', '/identifiers'), { value: 'x' }), 'not_found')
  })

  it.each(['assets', 'locations'] as const)(
    'are 404 on %s when they are another organization’s (D24)',
    async (kind) => {
      const other = await context.app.newOrg()
      const body = { identifier: 'X', name: 'x', identifiers: [{ value: 'E280' }] }
      const theirs = await other.full.post(`${naturalBase}/${kind}`, body)
      await full.post(`${naturalBase}/${kind}`, { identifier: 'X', name: 'x' })
      const before = await database.snapshot(other.orgId)
      const [tag] = theirs.json.data.identifiers
      expectApiError(await full.delete(naturalPath(kind, 'X', `/identifiers/${tag.id}`)), 'not_found')
      expect(await database.snapshot(other.orgId)).toBe(before)
    },
  )

  it.each(['assets', 'locations'] as const)('accept only ids from 1 to 9007199254740991 on %s', async (kind) => {
    for (const [id, problem] of [
      ['0', { code: 'too_small', params: { min: 1 } }],
      ['-1', { code: 'too_small', params: { min: 1 } }],
      ['9007199254740992', { code: 'too_large', params: { max: 9_007_199_254_740_991 } }],
      ['abc', { code: 'invalid_value' }],
    ] as const) {
      const reply = await full.delete(naturalPath(kind, 'X', `/identifiers/${id}`))
      expectApiError(reply, 'validation_error', { fields: [{ field: 'identifierId', ...problem }] })
    }
    await full.post(`${naturalBase}/${kind}`, { identifier: 'X', name: 'x' })
    expectApiError(await full.delete(naturalPath(kind, 'X', '/identifiers/9007199254740991')), 'not_found')
  })
})

describe('Tree reads', () => {
  beforeEach(async () => {
    await createNaturalLocation(full, 'SITE')
    await createNaturalLocation(full, 'H2', { parent_identifier: 'SITE', name: 'a' })
    await createNaturalLocation(full, 'H1', { parent_identifier: 'SITE', name: 'b' })
    await createNaturalLocation(full, 'D2', { parent_identifier: 'H1' })
    await createNaturalLocation(full, 'D1', { parent_identifier: 'H1' })
    await createNaturalLocation(full, 'D3', { parent_identifier: 'H2', valid_to: '2026-05-04T08:00:00.001Z' })
  })

  it.each([
    ['ancestors', 'D1', ['SITE', 'H1']],
    ['ancestors', 'SITE', []],
    ['children', 'SITE', ['H2', 'H1']],
    ['children', 'D1', []],
    ['descendants', 'SITE', ['H1', 'D1', 'D2', 'H2', 'D3']],
    ['descendants', 'H2', ['D3']],
  ])('%s of %s are %j, in the order of D3, whatever their validity (D15)', async (relation, key, expected) => {
    millis += 1000
    const reply = await full.get(naturalPath('locations', key, `/${relation}`))
    expect(identifiersOf(reply)).toEqual(expected)
    expect(reply.json).toMatchObject({ limit: 50, offset: 0, total_count: expected.length })
  })

  it('show each location whole, with its path', async () => {
    const reply = await full.get(naturalPath('locations', 'H1', '/descendants'))
    const each = await Promise.all(['D1', 'D2'].map((key) => full.get(naturalPath('locations', key))))
    expect(reply.json.data).toEqual(each.map((one) => one.json.data))
    expect(reply.json.data.map((one: { path: string; depth: number }) => [one.path, one.depth])).toEqual([
      ['SITE/H1/D1', 2],
      ['SITE/H1/D2', 2],
    ])
  })

  it.each(['ancestors', 'children', 'descendants'])('%s are paged', async (relation) => {
    const key = relation === 'ancestors' ? 'D1' : 'SITE'
    const all = identifiersOf(await full.get(naturalPath('locations', key, `/${relation}`)))
    const page = await full.get(naturalPath('locations', key, `/${relation}`), { limit: 1, offset: 1 })
    expect([identifiersOf(page), page.json.total_count]).toEqual([all.slice(1, 2), all.length])
    const problem = await full.get(naturalPath('locations', key, `/${relation}`), { sort: 'name' })
    expectApiError(problem, 'validation_error', { fields: [{ field: 'sort', code: 'unknown_field' }] })
    expectApiError(await full.get(naturalPath('locations', 'NOBODY', `/${relation}`)), 'not_found')
  })
})
