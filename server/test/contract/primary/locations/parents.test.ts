import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client, Reply } from '../../../support/client.ts'
import {
  type LocationJson,
  type FieldError,
  expectNoChange,
  create,
  expectValidationError,
  expectErrorStatus,
  remove,
  useDatabase,
} from '../../../support/master-data.ts'

const context = useApp()
const database = useDatabase(context)

let org: TestOrg
let client: Client
/** Two live locations, one of another organization, a deleted one, an asset, and the location whose parent changes. */
let hall: LocationJson
let yard: LocationJson
let foreign: LocationJson
let gone: LocationJson
let assetId: number
let mover: LocationJson
const nowhere = 9007199254740991

beforeAll(async () => {
  org = await context.app.newOrg()
  client = org.full
  hall = await create(client, 'locations', { external_key: 'HALL', name: 'Hall' })
  yard = await create(client, 'locations', { external_key: 'YARD', name: 'Yard' })
  gone = await create(client, 'locations', { external_key: 'GONE', name: 'Gone' })
  await remove(client, 'locations', gone.id)
  assetId = (await create(client, 'assets', { external_key: 'ASSET', name: 'Asset' })).id
  foreign = await create((await context.app.newOrg()).full, 'locations', { external_key: 'FOREIGN', name: 'Foreign' })
  mover = await create(client, 'locations', { external_key: 'MOVER', name: 'Mover', parent_id: yard.id })
})

const ways: [string, (body: object) => Promise<Reply>][] = [
  ['create', (body) => client.post('/api/v1/locations', { name: 'Child', ...body })],
  ['PATCH', (body) => client.patch(`/api/v1/locations/${mover.id}`, body)],
]

describe.each(ways)('the parent on %s', (_way, write) => {
  const accepted: [what: string, body: () => object, parent: () => LocationJson | null][] = [
    ['its id', () => ({ parent_id: hall.id }), () => hall],
    ['its key', () => ({ parent_external_key: 'YARD' }), () => yard],
    ['both, when they name one location', () => ({ parent_id: hall.id, parent_external_key: 'HALL' }), () => hall],
    ['a null id, which is the root', () => ({ parent_id: null }), () => null],
    ['its key again', () => ({ parent_external_key: 'HALL' }), () => hall],
    ['a null key, which is the root', () => ({ parent_external_key: null }), () => null],
    ['its id again', () => ({ parent_id: yard.id }), () => yard],
    ['null twice, which is the root', () => ({ parent_id: null, parent_external_key: null }), () => null],
  ]
  it.each(accepted)('is named by %s', async (_what, body, parent) => {
    const reply = await write(body())
    expect([200, 201]).toContain(reply.status)
    const shown = { parent_id: parent()?.id ?? null, parent_external_key: parent()?.external_key ?? null }
    expect(reply.json.data).toMatchObject(shown)
    const read = await client.get(`/api/v1/locations/${reply.json.data.id}`)
    expect(read.json.data).toEqual(reply.json.data)
  })

  const id = (code: string, params?: FieldError[2]): FieldError =>
    params ? ['parent_id', code, params] : ['parent_id', code]
  const key = (code: string, params?: FieldError[2]): FieldError =>
    params ? ['parent_external_key', code, params] : ['parent_external_key', code]
  const notInteger = (received_type: string): FieldError =>
    id('invalid_value', { expected_type: 'integer', received_type })
  const ambiguous = [id('ambiguous_fields'), key('ambiguous_fields')]

  const rejected: [what: string, body: () => object, ...problems: FieldError[]][] = [
    ['two live locations that differ', () => ({ parent_id: hall.id, parent_external_key: 'YARD' }), ...ambiguous],
    ['the same two the other way round', () => ({ parent_external_key: 'HALL', parent_id: yard.id }), ...ambiguous],
    ['a null id beside a live key', () => ({ parent_id: null, parent_external_key: 'HALL' }), ...ambiguous],
    ['a null key beside a live id', () => ({ parent_id: hall.id, parent_external_key: null }), ...ambiguous],
    ['an id that does not exist', () => ({ parent_id: nowhere }), id('fk_not_found')],
    ['a key that does not exist', () => ({ parent_external_key: 'NOWHERE' }), key('fk_not_found')],
    ['the key in another case', () => ({ parent_external_key: 'hall' }), key('fk_not_found')],
    ['a dead id beside a live key', () => ({ parent_id: nowhere, parent_external_key: 'HALL' }), id('fk_not_found')],
    [
      'a dead key beside a live id',
      () => ({ parent_id: hall.id, parent_external_key: 'NOWHERE' }),
      key('fk_not_found'),
    ],
    [
      'neither side resolving',
      () => ({ parent_external_key: 'NOWHERE', parent_id: nowhere }),
      id('fk_not_found'),
      key('fk_not_found'),
    ],
    ['a dead key beside a null id', () => ({ parent_id: null, parent_external_key: 'NOWHERE' }), key('fk_not_found')],
    ['a dead id beside a null key', () => ({ parent_id: nowhere, parent_external_key: null }), id('fk_not_found')],
    ['the id of another organization (D23)', () => ({ parent_id: foreign.id }), id('fk_not_found')],
    ['the key of another organization (D23)', () => ({ parent_external_key: 'FOREIGN' }), key('fk_not_found')],
    [
      'a pair of another organization (D23)',
      () => ({ parent_id: foreign.id, parent_external_key: 'FOREIGN' }),
      id('fk_not_found'),
      key('fk_not_found'),
    ],
    ['a deleted id (D23)', () => ({ parent_id: gone.id }), id('fk_not_found')],
    ['a deleted key (D23)', () => ({ parent_external_key: 'GONE' }), key('fk_not_found')],
    [
      'a deleted id beside a live key (D23)',
      () => ({ parent_id: gone.id, parent_external_key: 'HALL' }),
      id('fk_not_found'),
    ],
    ['the id of an asset', () => ({ parent_id: assetId }), id('fk_not_found')],
    ['the key of an asset', () => ({ parent_external_key: 'ASSET' }), key('fk_not_found')],
    ['zero', () => ({ parent_id: 0 }), id('fk_not_found')],
    ['a negative id', () => ({ parent_id: -hall.id }), id('fk_not_found')],
    ['an id past the integers of JSON', () => ({ parent_id: 9007199254740992 }), id('invalid_value')],
    ['an id past 64 bits', () => ({ parent_id: 1e30 }), id('invalid_value')],
    ['a negative id past 64 bits', () => ({ parent_id: -1e30 }), id('invalid_value')],
    ['a fraction', () => ({ parent_id: 1.5 }), notInteger('number')],
    ['the id as text', () => ({ parent_id: String(hall.id) }), notInteger('string')],
    ['true', () => ({ parent_id: true }), notInteger('boolean')],
    ['a list of ids', () => ({ parent_id: [hall.id] }), notInteger('array')],
    ['an object', () => ({ parent_id: { id: hall.id } }), notInteger('object')],
    [
      'a number as key',
      () => ({ parent_external_key: 5 }),
      key('invalid_value', { expected_type: 'string', received_type: 'integer' }),
    ],
    ['an empty key', () => ({ parent_external_key: '' }), key('too_short', { min_length: 1 })],
    ['a key of 256 characters', () => ({ parent_external_key: 'k'.repeat(256) }), key('too_long')],
    ['a control character in the key', () => ({ parent_external_key: 'HALL\u0000' }), key('invalid_value')],
  ]
  it.each(rejected)('is rejected when it is %s', async (_what, body, ...problems) => {
    expectValidationError(await expectNoChange(database.sql, org, () => write(body())), ...problems)
  })

  it('may be inactive or outside its validity, because it is still live', async () => {
    const shut = await create(client, 'locations', { name: 'Shut', is_active: false, valid_to: '2099-01-01T00:00:00Z' })
    await database.sql`update locations set valid_from = '2001-01-01Z', valid_to = '2001-01-02Z'
      where org_id = ${org.orgId} and id = ${shut.id}`
    const reply = await write({ parent_id: shut.id })
    expect(reply.json.data).toMatchObject({ parent_id: shut.id, parent_external_key: shut.external_key })
  })
})

it('reports a parent that does not exist before a key in use (D6)', async () => {
  const body = { external_key: 'HALL', name: 'x', parent_id: nowhere }
  expectValidationError(await client.post('/api/v1/locations', body), ['parent_id', 'fk_not_found'])
})

describe('moving a location', () => {
  it('moves its whole subtree and does not change the rows below it', async () => {
    const top = await create(client, 'locations', { external_key: 'TOP', name: 'Top' })
    const middle = await create(client, 'locations', { external_key: 'MIDDLE', name: 'Middle' })
    const low = await create(client, 'locations', { external_key: 'LOW', name: 'Low', parent_id: middle.id })
    const reply = await client.patch(`/api/v1/locations/${middle.id}`, { parent_id: top.id })
    expect(reply.status).toBe(200)
    expect(Date.parse(reply.json.data.updated_at)).toBeGreaterThan(Date.parse(middle.updated_at))
    expect((await client.get(`/api/v1/locations/${low.id}`)).json.data).toEqual(low)
    expect((await client.get(`/api/v1/locations/${top.id}`)).json.data).toEqual(top)
    const below = await client.get(`/api/v1/locations/${top.id}/descendants`)
    expect(below.json.data.map((row: LocationJson) => row.external_key)).toEqual(['MIDDLE', 'LOW'])
  })

  it.each([
    ['itself, by id', 0, 'id'],
    ['itself, by key', 0, 'key'],
    ['its child, by id', 1, 'id'],
    ['its child, by key', 1, 'key'],
    ['a descendant five levels down, by id', 5, 'id'],
    ['a descendant five levels down, by key', 5, 'key'],
  ])('under %s is 409 and changes nothing (D23)', async (_what, depth, form) => {
    const chain = [await create(client, 'locations', { name: 'level 0' })]
    for (let level = 1; level <= 5; level++)
      chain.push(await create(client, 'locations', { name: `level ${level}`, parent_id: chain.at(-1)!.id }))
    const target = chain[depth]!
    const body = form === 'id' ? { parent_id: target.id } : { parent_external_key: target.external_key }
    const path = `/api/v1/locations/${chain[0]!.id}`
    expectErrorStatus(await expectNoChange(database.sql, org, () => client.patch(path, { ...body, name: 'new' })), 409)
  })

  it('under a former descendant is accepted once that one was moved away', async () => {
    const over = await create(client, 'locations', { name: 'over' })
    const under = await create(client, 'locations', { name: 'under', parent_id: over.id })
    expectErrorStatus(await client.patch(`/api/v1/locations/${over.id}`, { parent_id: under.id }), 409)
    expect((await client.patch(`/api/v1/locations/${under.id}`, { parent_id: null })).status).toBe(200)
    expect((await client.patch(`/api/v1/locations/${over.id}`, { parent_id: under.id })).status).toBe(200)
  })

  it('reports a parent that does not exist before a cycle (D6)', async () => {
    const body = { parent_id: mover.id, parent_external_key: 'NOWHERE' }
    expectValidationError(await client.patch(`/api/v1/locations/${mover.id}`, body), [
      'parent_external_key',
      'fk_not_found',
    ])
  })

  it('to its current parent advances updated_at and changes nothing else', async () => {
    const child = await create(client, 'locations', { name: 'stays', parent_id: hall.id })
    const reply = await client.patch(`/api/v1/locations/${child.id}`, { parent_id: hall.id })
    expect(reply.json.data).toEqual({ ...child, updated_at: expect.any(String) })
    expect(Date.parse(reply.json.data.updated_at)).toBeGreaterThan(Date.parse(child.updated_at))
  })
})
