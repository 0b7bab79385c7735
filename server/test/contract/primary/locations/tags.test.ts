import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client, Reply } from '../../../support/client.ts'
import {
  type LocationJson,
  type FieldError,
  type TagJson,
  expectNoChange,
  create,
  expectValidationError,
  expectErrorStatus,
  useDatabase,
} from '../../../support/master-data.ts'

let millis = Date.parse('2031-03-04T05:06:07.890Z')
const context = useApp({ clock: { millis: () => millis } })
const database = useDatabase(context)

let org: TestOrg
let client: Client
let dock: LocationJson

beforeAll(async () => {
  org = await context.app.newOrg()
  client = org.full
})

beforeEach(async () => {
  millis += 1000
  dock = await create(client, 'locations', { name: 'Dock' })
})

const attach = (location: LocationJson, body: unknown): Promise<Reply> =>
  client.post(`/api/v1/locations/${location.id}/tags`, body)
const detach = (location: LocationJson, tagId: number | string): Promise<Reply> =>
  client.delete(`/api/v1/locations/${location.id}/tags/${tagId}`)
const read = async (location: LocationJson): Promise<LocationJson> =>
  (await client.get(`/api/v1/locations/${location.id}`)).json.data

let serial = 0
const fresh = (): string => `VALUE-${++serial}`

async function attached(location: LocationJson, tag: object): Promise<TagJson> {
  const reply = await attach(location, tag)
  expect(reply.status, reply.text).toBe(201)
  return reply.json.data
}

describe('attaching a tag to a location', () => {
  it.each(['rfid', 'ble', 'barcode'])(
    'answers 201 with the %s tag, and does not change updated_at (D19, D21)',
    async (type) => {
      const value = fresh()
      millis += 50
      const reply = await attach(dock, { tag_type: type, value })
      expect(reply.status).toBe(201)
      expect(reply.json).toEqual({ data: { id: expect.any(Number), tag_type: type, value } })
      expect(await read(dock)).toEqual({ ...dock, tags: [reply.json.data] })
      const listed = await client.get('/api/v1/locations', { external_key: dock.external_key })
      expect(listed.json.data).toEqual([{ ...dock, tags: [reply.json.data] }])
    },
  )

  it('keeps all tags of a location, each with its own id', async () => {
    const tags = []
    for (let turn = 0; turn < 5; turn++) tags.push(await attached(dock, { tag_type: 'rfid', value: fresh() }))
    expect(new Set(tags.map((tag) => tag.id)).size).toBe(5)
    const byId = (a: TagJson, b: TagJson): number => a.id - b.id
    expect((await read(dock)).tags.sort(byId)).toEqual(tags.sort(byId))
  })

  it('accepts the same value with another type, and any value of 255 characters', async () => {
    const value = fresh()
    await attached(dock, { tag_type: 'rfid', value })
    await attached(dock, { tag_type: 'barcode', value })
    await attached(dock, { tag_type: 'barcode', value: '🏷'.repeat(255) })
  })

  it.each([
    ['the same value', 'barcode', 'AB-1', 'AB-1'],
    ['an rfid value in another case', 'rfid', 'E2ab', 'e2AB'],
    ['a ble value in another case and without separators', 'ble', 'AA:bb:cc:DD', 'aa-BBccdd'],
  ])(
    'is 409 for %s, whichever record of the organization it is attached to (D22)',
    async (_what, type, held, value) => {
      const asset = await create(client, 'assets', { name: 'x', tags: [{ tag_type: type, value: `a${held}` }] })
      const other = await create(client, 'locations', { name: 'x', tags: [{ tag_type: type, value: `l${held}` }] })
      for (const taken of [`a${value}`, `l${value}`]) {
        const reply = await expectNoChange(database.sql, org, () => attach(dock, { tag_type: type, value: taken }))
        expectErrorStatus(reply, 409)
      }
      expectErrorStatus(await attach(other, { tag_type: type, value: `l${value}` }), 409)
      const body = { tag_type: type, value: `l${value}` }
      expectErrorStatus(await client.post(`/api/v1/assets/${asset.id}/tags`, body), 409)
    },
  )

  it('accepts a barcode that differs in case, and an rfid value that differs in separators (D22)', async () => {
    await attached(dock, { tag_type: 'barcode', value: 'Code-1' })
    await attached(dock, { tag_type: 'barcode', value: 'code-1' })
    await attached(dock, { tag_type: 'rfid', value: 'E2:00' })
    await attached(dock, { tag_type: 'rfid', value: 'E200' })
  })

  it('accepts a value that another organization uses (D22)', async () => {
    const value = fresh()
    await create((await context.app.newOrg()).full, 'locations', { name: 'x', tags: [{ tag_type: 'rfid', value }] })
    await attached(dock, { tag_type: 'rfid', value })
  })

  const type = (expected_type: string, received_type: string): Record<string, string> => ({
    expected_type,
    received_type,
  })
  const cases: [what: string, body: object, ...problems: FieldError[]][] = [
    ['an empty body', {}, ['tag_type', 'required'], ['value', 'required']],
    ['a missing type (D19)', { value: 'v' }, ['tag_type', 'required']],
    ['a missing value (D19)', { tag_type: 'rfid' }, ['value', 'required']],
    ['an unknown type', { tag_type: 'nfc', value: 'v' }, ['tag_type', 'invalid_value']],
    ['a type in capitals', { tag_type: 'RFID', value: 'v' }, ['tag_type', 'invalid_value']],
    ['a null type', { tag_type: null, value: 'v' }, ['tag_type', 'invalid_value']],
    ['an empty value', { tag_type: 'rfid', value: '' }, ['value', 'too_short', { min_length: 1 }]],
    ['a value of 256 characters', { tag_type: 'rfid', value: 'v'.repeat(256) }, ['value', 'too_long']],
    ['a null value', { tag_type: 'rfid', value: null }, ['value', 'invalid_value']],
    ['a number as value', { tag_type: 'rfid', value: 12 }, ['value', 'invalid_value', type('string', 'integer')]],
    ['a control character in the value', { tag_type: 'rfid', value: 'a\nb' }, ['value', 'invalid_value']],
    ['the other surface’s name for the type', { type: 'rfid', value: 'v' }, ['type', 'unknown_field']],
    [
      'an id',
      { id: 5, tag_type: 'rfid', value: 'v', is_active: true },
      ['id', 'unknown_field'],
      ['is_active', 'unknown_field'],
    ],
  ]
  it.each(cases)('rejects %s', async (_what, body, ...problems) => {
    expectValidationError(await expectNoChange(database.sql, org, () => attach(dock, body)), ...problems)
  })

  it('needs locations:write; there is no scope for tags', async () => {
    const reader = org.client('locations:read', 'assets:write')
    const reply = await reader.post(`/api/v1/locations/${dock.id}/tags`, { tag_type: 'rfid', value: fresh() })
    expectErrorStatus(reply, 403)
    expect(reply.json.error.detail).toBe('Missing required scope: locations:write')
  })
})

describe('detaching a tag from a location', () => {
  it('answers 204, removes only this tag and does not change updated_at (D21)', async () => {
    const kept = await attached(dock, { tag_type: 'rfid', value: fresh() })
    const tag = await attached(dock, { tag_type: 'ble', value: fresh() })
    millis += 50
    const reply = await detach(dock, tag.id)
    expect(reply.status).toBe(204)
    expect(reply.text).toBe('')
    expect(await read(dock)).toEqual({ ...dock, tags: [kept] })
  })

  it('frees the value at once', async () => {
    const value = fresh()
    const tag = await attached(dock, { tag_type: 'rfid', value })
    expect((await detach(dock, tag.id)).status).toBe(204)
    const again = await attached(dock, { tag_type: 'rfid', value })
    expect(again.id).not.toBe(tag.id)
  })

  it('is 404 the second time', async () => {
    const tag = await attached(dock, { tag_type: 'rfid', value: fresh() })
    expect((await detach(dock, tag.id)).status).toBe(204)
    expectErrorStatus(await expectNoChange(database.sql, org, () => detach(dock, tag.id)), 404)
  })

  it('is 404 for a tag of another location, of an asset or of another organization, also under its own location [D24]', async () => {
    const tag = (): object[] => [{ tag_type: 'rfid', value: fresh() }]
    const there = await create(client, 'locations', { name: 'x', tags: tag() })
    const asset = await create(client, 'assets', { name: 'x', tags: tag() })
    const otherOrg = await context.app.newOrg()
    const foreign = await create(otherOrg.full, 'locations', { name: 'x', tags: tag() })
    for (const owner of [there, asset, foreign])
      expectErrorStatus(await expectNoChange(database.sql, org, () => detach(dock, owner.tags[0]!.id)), 404)
    const act = (): Promise<Reply> => detach(foreign, foreign.tags[0]!.id)
    expectErrorStatus(await expectNoChange(database.sql, otherOrg, act), 404)
  })

  it.each([
    ['0', ['tag_id', 'too_small', { min: 1 }]],
    ['-1', ['tag_id', 'too_small', { min: 1 }]],
    ['9007199254740992', ['tag_id', 'too_large', { max: 9007199254740991 }]],
    ['abc', ['tag_id', 'invalid_value']],
    ['1.0', ['tag_id', 'invalid_value']],
  ] as [string, FieldError][])('rejects the tag id %s', async (id, problem) => {
    expectValidationError(await detach(dock, id), problem)
  })

  it('needs locations:write', async () => {
    const tag = await attached(dock, { tag_type: 'rfid', value: fresh() })
    const reader = org.client('locations:read', 'assets:write')
    const target = `/api/v1/locations/${dock.id}/tags/${tag.id}`
    expectErrorStatus(await expectNoChange(database.sql, org, () => reader.delete(target)), 403)
  })
})
