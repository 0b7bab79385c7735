import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { assetsPath, assetPath, useAssetFixtures } from '../../../support/assets.ts'
import { expectApiError } from '../../../support/error-response.ts'
import {
  expectValidationError,
  readOnly,
  required,
  tooShort,
  unknownField,
  wrongType,
} from '../../../support/validation-errors.ts'
import { remove } from '../../../support/master-data.ts'

const noon = '2026-03-02T12:00:00.125Z'
const fixtures = useAssetFixtures(useApp({ clock: { millis: () => Date.parse(noon) } }))

describe('creating an asset', () => {
  it('answers exactly the twelve fields of the read schema, unset ones with their empty value (D11)', async () => {
    const org = await fixtures.another()
    const reply = await org.post({ name: 'Pallet jack' })
    expect(reply.status).toBe(201)
    expect(reply.json).toStrictEqual({
      data: {
        id: expect.any(Number),
        external_key: 'ASSET-0001',
        name: 'Pallet jack',
        description: null,
        metadata: {},
        is_active: true,
        valid_from: noon,
        valid_to: null,
        created_at: noon,
        updated_at: noon,
        deleted_at: null,
        tags: [],
      },
    })
  })

  it('stores every settable field as it was sent and shows it the same way when it is read', async () => {
    const sent = {
      external_key: 'PJ-7',
      name: 'Pallet jack 7',
      description: 'Blue\n\tleft fork bent\r\n',
      metadata: { owner: { dock: 3, names: ['Ann', null, 1.5, false] }, empty: {}, none: null },
      is_active: false,
      valid_from: '2026-01-01T00:00:00.250Z',
      valid_to: '2031-01-01T00:00:00.500Z',
      tags: [
        { tag_type: 'rfid', value: 'E280aB' },
        { tag_type: 'ble', value: 'AA:bb:CC:00:11:22' },
        { tag_type: 'barcode', value: '4006381333931' },
      ],
    }
    const reply = await fixtures.own.post(sent)
    expect(reply.status).toBe(201)
    const { data } = reply.json
    const tags = sent.tags.map((tag) => ({ id: expect.any(Number), ...tag }))
    const managed = { id: data.id, created_at: noon, updated_at: noon, deleted_at: null }
    expect(data).toStrictEqual({ ...sent, ...managed, tags })
    expect(await fixtures.own.read(data)).toStrictEqual(data)
  })

  it('names the new asset in the Location header (D19)', async () => {
    const reply = await fixtures.own.post({ name: 'Ladder' })
    expect(reply.headers['location']).toBe(`${assetsPath}/${reply.json.data.id}`)
    const read = await fixtures.own.client.get(reply.headers['location']!)
    expect(read.status).toBe(200)
    expect(read.json).toStrictEqual(reply.json)
  })

  it('gives ids that cannot be derived from one another (D12)', async () => {
    const ids: number[] = []
    for (let count = 0; count < 40; count++) ids.push((await fixtures.own.create()).id)
    expect(ids.every((id) => Number.isSafeInteger(id) && id >= 1)).toBe(true)
    const steps = ids.slice(1).map((id, index) => id - ids[index]!)
    expect(new Set(steps).size).toBe(steps.length)
    expect(steps.some((step) => step < 0) && steps.some((step) => step > 0)).toBe(true)
    expect(Math.min(...steps.map(Math.abs))).toBeGreaterThan(1)
  })

  it('accepts an explicit null for nullable fields', async () => {
    const asset = await fixtures.own.create({ description: null, valid_to: null })
    expect(asset).toMatchObject({ description: null, valid_to: null })
  })

  it('distinguishes an empty description from none (D11)', async () => {
    const asset = await fixtures.own.create({ description: '' })
    expect(asset.description).toBe('')
    expect((await fixtures.own.read(asset)).description).toBe('')
  })
})

describe('an external_key', () => {
  it('of a live asset of the organization is rejected and changes nothing', async () => {
    await fixtures.own.create({ external_key: 'TAKEN' })
    const reply = await fixtures.own.expectNoChange(() => fixtures.own.post({ name: 'Other', external_key: 'TAKEN' }))
    expectApiError(reply, 'conflict')
  })

  it('stays in use while its asset is inactive or outside its validity', async () => {
    await fixtures.own.create({ external_key: 'INACTIVE', is_active: false })
    await fixtures.own.create({
      external_key: 'EXPIRED',
      valid_from: '2020-01-01T00:00:00Z',
      valid_to: '2020-01-02T00:00:00Z',
    })
    await fixtures.own.create({ external_key: 'COMING', valid_from: '2099-01-01T00:00:00Z' })
    for (const external_key of ['INACTIVE', 'EXPIRED', 'COMING'])
      expectApiError(await fixtures.own.post({ name: 'Other', external_key }), 'conflict')
  })

  it('is free at once after its asset was deleted', async () => {
    const first = await fixtures.own.create({ external_key: 'AGAIN' })
    await remove(fixtures.own.client, 'assets', first.id)
    const second = await fixtures.own.create({ external_key: 'AGAIN' })
    expect(second.id).not.toBe(first.id)
  })

  it('may be the same in two organizations, and on an asset and a location of one', async () => {
    const other = await fixtures.another()
    await fixtures.own.create({ external_key: 'SHARED' })
    expect((await other.create({ external_key: 'SHARED' })).external_key).toBe('SHARED')
    const location = await fixtures.own.client.post('/api/v1/locations', { name: 'Dock', external_key: 'SHARED' })
    expect(location.status).toBe(201)
  })

  it.each([
    ['case', 'Key-A', 'key-a'],
    ['a leading space', 'KEY-B', ' KEY-B'],
    ['a trailing space', 'KEY-C', 'KEY-C '],
    ['composition of an accent', 'KEY-\u00e9', 'KEY-e\u0301'],
    ['full width', 'KEY-1', 'KEY-\uff11'],
  ])('that differs from another only in %s is a different key (D13)', async (_what, one, other) => {
    expect((await fixtures.own.create({ external_key: one })).external_key).toBe(one)
    expect((await fixtures.own.create({ external_key: other })).external_key).toBe(other)
  })
})

describe('a create body', () => {
  it.each([
    ['an empty body', {}, [required('name')]],
    ['a null key', { name: 'a', external_key: null }, [wrongType('external_key', 'string', 'null')]],
    ['an empty key', { name: 'a', external_key: '' }, [tooShort('external_key')]],
    ['a location', { name: 'a', location_id: 1 }, [readOnly('location_id')]],
    ['a location by key', { name: 'a', location_external_key: 'DOCK' }, [readOnly('location_external_key')]],
    [
      'a location, even null',
      { name: 'a', location_external_key: null, location_id: null },
      [readOnly('location_id'), readOnly('location_external_key')],
    ],
    [
      'what the server manages',
      { name: 'a', id: 7, updated_at: noon, created_at: noon, deleted_at: null },
      ['created_at', 'deleted_at', 'id', 'updated_at'].map(unknownField),
    ],
    [
      'a location’s parent',
      { name: 'a', parent_id: 1, parent_external_key: 'x' },
      ['parent_external_key', 'parent_id'].map(unknownField),
    ],
    [
      'the other surface’s names',
      { name: 'a', identifier: 'x', identifiers: [], type: 'asset' },
      ['identifier', 'identifiers', 'type'].map(unknownField),
    ],
    ['keys of another case', { name: 'a', Name: 'b', EXTERNAL_KEY: 'c' }, ['EXTERNAL_KEY', 'Name'].map(unknownField)],
    [
      'names every object has',
      { name: 'a', toString: 1, constructor: 2, ['__proto__']: 3 },
      ['__proto__', 'constructor', 'toString'].map(unknownField),
    ],
  ])('with %s is rejected and creates nothing', async (_what, body, problems) => {
    const reply = await fixtures.own.expectNoChange(() => fixtures.own.post(body))
    expectValidationError(reply, ...problems)
  })

  it.each([
    [
      'unknown keys alone, all of them, sorted',
      { zeta: 1, alpha: 2, name: 5, Mid: 3 },
      ['Mid', 'alpha', 'zeta'].map(unknownField),
    ],
    [
      'missing and wrong fields in the order of the field table',
      { tags: [{ tag_type: 'rfid', value: '' }], valid_to: 'x', metadata: { a: '\u0001' }, external_key: '' },
      [
        tooShort('external_key'),
        required('name'),
        { field: 'metadata.a', code: 'invalid_value' },
        { field: 'valid_to', code: 'invalid_value' },
        tooShort('tags[0].value'),
      ],
    ],
    [
      'the first value of a wrong type and none behind it',
      { name: 1, description: 2, valid_from: 'x' },
      [wrongType('name', 'string', 'integer')],
    ],
    ['fields before a location', { location_id: 1, name: '' }, [tooShort('name'), readOnly('location_id')]],
  ])('is answered with %s (D7)', async (_what, body, problems) => {
    expectValidationError(await fixtures.own.expectNoChange(() => fixtures.own.post(body)), ...problems)
  })

  it.each([
    ['nothing', '', 'Request body is not valid JSON'],
    ['half an object', '{"name": "a"', 'Request body is not valid JSON'],
    ['a trailing comma', '{"name": "a",}', 'Request body is not valid JSON'],
    ['a bare word', 'name', 'Request body is not valid JSON'],
    [
      'bytes that are not UTF-8',
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      'Request body is not valid JSON',
    ],
    ['a list', '[{"name": "a"}]', 'Request body could not be decoded as the expected type'],
    ['a text', '"name"', 'Request body could not be decoded as the expected type'],
    ['a number', '7', 'Request body could not be decoded as the expected type'],
    ['a boolean', 'true', 'Request body could not be decoded as the expected type'],
    ['null', 'null', 'Request body could not be decoded as the expected type'],
  ])('of %s is a bad request', async (_what, raw, detail) => {
    const headers = { 'content-type': 'application/json' }
    const reply = await fixtures.own.expectNoChange(() =>
      fixtures.own.client.send('POST', assetsPath, { raw, headers }),
    )
    expectApiError(reply, 'bad_request', { detail, instance: assetsPath })
  })
})

describe('the validity of a new asset', () => {
  it('may be in the past or the future and does not hide the asset on its own path (D15)', async () => {
    const past = await fixtures.own.create({ valid_from: '2001-01-01T00:00:00Z', valid_to: '2002-01-01T00:00:00Z' })
    const future = await fixtures.own.create({ valid_from: '2090-01-01T00:00:00Z' })
    for (const asset of [past, future]) {
      expect(await fixtures.own.read(asset)).toStrictEqual(asset)
      expect((await fixtures.own.patch(asset, {})).status).toBe(200)
      expect((await fixtures.own.client.delete(assetPath(asset))).status).toBe(204)
    }
  })
})
