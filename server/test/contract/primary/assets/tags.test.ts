import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { type AssetJson, assetPath, useAssetFixtures } from '../../../support/assets.ts'
import type { Reply } from '../../../support/client.ts'
import { expectApiError } from '../../../support/error-response.ts'
import { create } from '../../../support/master-data.ts'
import {
  expectValidationError,
  invalidValue,
  required,
  tooLong,
  tooShort,
  unknownField,
  wrongType,
} from '../../../support/validation-errors.ts'

const clock = { at: Date.parse('2026-03-02T12:00:00.000Z'), millis: () => clock.at++ }
const fixtures = useAssetFixtures(useApp({ clock }))

const attach = (asset: { id: number }, body: unknown): Promise<Reply> =>
  fixtures.own.client.post(`${assetPath(asset)}/tags`, body)
const detach = (asset: { id: number }, tagId: number | string): Promise<Reply> =>
  fixtures.own.client.delete(`${assetPath(asset)}/tags/${tagId}`)

let count = 0
const fresh = (): string => `TAG-${++count}`

describe('attaching a tag', () => {
  it.each(['rfid', 'ble', 'barcode'])('of type %s answers 201 with its id, type and value (D19)', async (tag_type) => {
    const asset = await fixtures.own.create()
    const value = fresh()
    const reply = await attach(asset, { tag_type, value })
    expect(reply.status).toBe(201)
    expect(reply.json).toStrictEqual({ data: { id: expect.any(Number), tag_type, value } })
    expect(Number.isSafeInteger(reply.json.data.id) && reply.json.data.id >= 1).toBe(true)
    expect((await fixtures.own.read(asset)).tags).toStrictEqual([reply.json.data])
  })

  it('adds to the tags of the asset and changes no other field, not even updated_at (D21)', async () => {
    const asset = await fixtures.own.create({ tags: [{ tag_type: 'rfid', value: fresh() }] })
    clock.at += 1000
    const first = await attach(asset, { tag_type: 'rfid', value: fresh() })
    const second = await attach(asset, { tag_type: 'barcode', value: fresh() })
    const tags = [...asset.tags, first.json.data, second.json.data]
    expect(await fixtures.own.read(asset)).toStrictEqual({ ...asset, tags })
  })

  it('makes the asset findable by the tag’s value at once (D26)', async () => {
    const asset = await fixtures.own.create()
    await attach(asset, { tag_type: 'rfid', value: 'Findable-By-Tag' })
    const found = await fixtures.own.client.get('/api/v1/assets', { q: 'able-by-t' })
    expect(found.json.data.map((row: AssetJson) => row.id)).toEqual([asset.id])
  })

  it.each([
    ['nothing', {}, [required('tag_type'), required('value')]],
    ['no type', { value: 'x' }, [required('tag_type')]],
    ['no value', { tag_type: 'rfid' }, [required('value')]],
    ['an unknown type', { tag_type: 'nfc', value: 'x' }, [invalidValue('tag_type')]],
    ['a type in capitals', { tag_type: 'RFID', value: 'x' }, [invalidValue('tag_type')]],
    ['an empty type', { tag_type: '', value: 'x' }, [invalidValue('tag_type')]],
    ['a null type', { tag_type: null, value: 'x' }, [wrongType('tag_type', 'string', 'null')]],
    ['a type that is a number', { tag_type: 1, value: 'x' }, [wrongType('tag_type', 'string', 'integer')]],
    ['an empty value', { tag_type: 'rfid', value: '' }, [tooShort('value')]],
    ['a null value', { tag_type: 'rfid', value: null }, [wrongType('value', 'string', 'null')]],
    ['a value that is a number', { tag_type: 'rfid', value: 4006381333931 }, [wrongType('value', 'string', 'integer')]],
    ['a value that is too long', { tag_type: 'rfid', value: 'x'.repeat(256) }, [tooLong('value', 255)]],
    ['the other surface’s name of the type', { type: 'rfid', value: 'x' }, [unknownField('type')]],
    [
      'more than type and value',
      { tag_type: 'rfid', value: 'x', id: 1, is_active: true },
      ['id', 'is_active'].map(unknownField),
    ],
    [
      'an unknown type and an empty value',
      { value: '', tag_type: 'nfc' },
      [invalidValue('tag_type'), tooShort('value')],
    ],
  ])('with %s is rejected and changes nothing (D19)', async (_what, body, problems) => {
    const asset = await fixtures.own.create()
    expectValidationError(await fixtures.own.expectNoChange(() => attach(asset, body)), ...problems)
  })

  it.each([['null'], ['[]'], ['[{"tag_type":"rfid","value":"x"}]'], ['{']])(
    'with the body %s is a bad request',
    async (raw) => {
      const asset = await fixtures.own.create()
      const headers = { 'content-type': 'application/json' }
      const send = () => fixtures.own.client.send('POST', `${assetPath(asset)}/tags`, { raw, headers })
      expectApiError(await fixtures.own.expectNoChange(send), 'bad_request')
    },
  )

  it('needs assets:write; the scope for locations is not enough', async () => {
    const asset = await fixtures.own.create()
    const body = { tag_type: 'rfid', value: fresh() }
    const wrong = fixtures.own.org.client('assets:read', 'locations:write', 'locations:read')
    const reply = await fixtures.own.expectNoChange(() => wrong.post(`${assetPath(asset)}/tags`, body))
    expectApiError(reply, 'forbidden', { detail: 'Missing required scope: assets:write' })
    expect((await fixtures.own.org.client('assets:write').post(`${assetPath(asset)}/tags`, body)).status).toBe(201)
  })
})

describe('detaching a tag', () => {
  const tagged = (): Promise<AssetJson> =>
    fixtures.own.create({ tags: [1, 2, 3].map(() => ({ tag_type: 'barcode', value: fresh() })) })

  it('answers 204 without a body and removes only that tag; updated_at does not change (D21)', async () => {
    const asset = await tagged()
    clock.at += 1000
    const reply = await detach(asset, asset.tags[1]!.id)
    expect(reply.status).toBe(204)
    expect(reply.text).toBe('')
    expect(await fixtures.own.read(asset)).toStrictEqual({ ...asset, tags: [asset.tags[0], asset.tags[2]] })
  })

  it('is not found the second time', async () => {
    const asset = await tagged()
    const tag = asset.tags[0]!
    expect((await detach(asset, tag.id)).status).toBe(204)
    expectApiError(await fixtures.own.expectNoChange(() => detach(asset, tag.id)), 'not_found')
  })

  it('frees the tag at once, and the same tag attached again has another id', async () => {
    const asset = await tagged()
    const { id, tag_type, value } = asset.tags[0]!
    expectApiError(await attach(asset, { tag_type, value }), 'conflict')
    await detach(asset, id)
    const again = await attach(asset, { tag_type, value })
    expect(again.status).toBe(201)
    expect(again.json.data.id).not.toBe(id)
    expectApiError(await detach(asset, id), 'not_found')
    expect((await fixtures.own.read(asset)).tags).toHaveLength(3)
  })

  it('removes the value from the search', async () => {
    const asset = await fixtures.own.create({ tags: [{ tag_type: 'rfid', value: 'searched-once' }] })
    await detach(asset, asset.tags[0]!.id)
    expect((await fixtures.own.client.get('/api/v1/assets', { q: 'searched-once' })).json.total_count).toBe(0)
  })

  it('of another asset is not found and changes nothing (D24)', async () => {
    const [asset, neighbour] = [await tagged(), await tagged()]
    const reply = await fixtures.own.expectNoChange(() => detach(asset, neighbour.tags[0]!.id))
    expectApiError(reply, 'not_found')
  })

  it('of a location is not found and changes nothing (D24)', async () => {
    const asset = await tagged()
    const dock = await create(fixtures.own.client, 'locations', {
      name: 'Dock',
      tags: [{ tag_type: 'rfid', value: fresh() }],
    })
    expectApiError(await fixtures.own.expectNoChange(() => detach(asset, dock.tags[0]!.id)), 'not_found')
  })

  it('of another organization is not found and changes nothing there (D24)', async () => {
    const asset = await tagged()
    const other = await fixtures.another()
    const theirs = await other.create({ tags: [{ tag_type: 'rfid', value: fresh() }] })
    expectApiError(await other.expectNoChange(() => detach(asset, theirs.tags[0]!.id)), 'not_found')
  })

  it('that never existed is not found, nor is the id of another kind of record (D24)', async () => {
    const asset = await tagged()
    for (const id of [1, 9007199254740991, asset.id]) expectApiError(await detach(asset, id), 'not_found')
  })

  it.each([
    ['0', { code: 'too_small', params: { min: 1 } }],
    ['-5', { code: 'too_small', params: { min: 1 } }],
    ['9007199254740992', { code: 'too_large', params: { max: 9007199254740991 } }],
    ['first', { code: 'invalid_value' }],
    ['1.5', { code: 'invalid_value' }],
  ])('with the tag id %s is rejected', async (id, problem) => {
    const asset = await tagged()
    expectValidationError(await fixtures.own.expectNoChange(() => detach(asset, id)), { field: 'tag_id', ...problem })
  })

  it('reports both ids of the path, in the order of the path (D7)', async () => {
    const reply = await fixtures.own.client.delete('/api/v1/assets/0/tags/x')
    expectValidationError(reply, { field: 'asset_id', code: 'too_small', params: { min: 1 } }, invalidValue('tag_id'))
  })

  it('needs assets:write', async () => {
    const asset = await tagged()
    const wrong = fixtures.own.org.client('assets:read', 'locations:write')
    const reply = await fixtures.own.expectNoChange(() => wrong.delete(`${assetPath(asset)}/tags/${asset.tags[0]!.id}`))
    expectApiError(reply, 'forbidden', { detail: 'Missing required scope: assets:write' })
  })
})
