import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { assetsPath, assetPath, useAssetFixtures } from '../../../support/assets.ts'
import type { Reply } from '../../../support/client.ts'
import { expectApiError } from '../../../support/error-response.ts'
import { create, remove } from '../../../support/master-data.ts'
import { expectValidationError, invalidContext, unknownField } from '../../../support/validation-errors.ts'

const fixtures = useAssetFixtures(useApp())

const keys = [
  'id',
  'external_key',
  'name',
  'description',
  'metadata',
  'is_active',
  'valid_from',
  'valid_to',
  'created_at',
  'updated_at',
  'deleted_at',
  'tags',
]

describe('reading an asset', () => {
  it('answers exactly the twelve fields of the table, in the detail and in the list (D11)', async () => {
    const org = await fixtures.another()
    const asset = await org.create({ tags: [{ tag_type: 'rfid', value: 'E280' }] })
    const detail = await org.client.get(assetPath(asset))
    expect(detail.status).toBe(200)
    expect(Object.keys(detail.json)).toEqual(['data'])
    expect(Object.keys(detail.json.data).sort()).toEqual([...keys].sort())
    expect(Object.keys(detail.json.data.tags[0]).sort()).toEqual(['id', 'tag_type', 'value'])
    const list = await org.client.get(assetsPath)
    expect(list.json).toStrictEqual({ data: [detail.json.data], limit: 50, offset: 0, total_count: 1 })
  })

  it('has no field for the location, which comes from scan data', async () => {
    const asset = await fixtures.own.create()
    const location = await create(fixtures.own.client, 'locations', { name: 'Dock' })
    await fixtures.sql`
      insert into asset_positions (org_id, asset_id, location_id, last_seen_at)
      values (${fixtures.own.org.orgId}, ${asset.id}, ${location.id}, now())`
    expect(await fixtures.own.read(asset)).toStrictEqual(asset)
  })

  it('answers HEAD like GET without a body', async () => {
    const asset = await fixtures.own.create()
    const [head, get] = [
      await fixtures.own.client.send('HEAD', assetPath(asset)),
      await fixtures.own.client.send('GET', assetPath(asset)),
    ]
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    expect(head.headers['content-type']).toBe(get.headers['content-type'])
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
  })

  it('finds an asset outside its validity, which the list leaves out (D15)', async () => {
    const org = await fixtures.another()
    const window = { valid_from: '2020-01-01T00:00:00Z', valid_to: '2020-01-02T00:00:00Z' }
    const asset = await org.create(window)
    expect(await org.read(asset)).toStrictEqual(asset)
    expect((await org.client.get(assetsPath)).json).toMatchObject({ data: [], total_count: 0 })
  })

  it('needs assets:read and no other scope', async () => {
    const asset = await fixtures.own.create()
    expect((await fixtures.own.org.client('assets:read').get(assetPath(asset))).status).toBe(200)
    const writer = fixtures.own.org.client('assets:write', 'locations:read', 'locations:write', 'tracking:read')
    expectApiError(await writer.get(assetPath(asset)), 'forbidden', { detail: 'Missing required scope: assets:read' })
  })

  it('rejects list filters as invalid_context and other parameters as unknown (D27)', async () => {
    const asset = await fixtures.own.create()
    for (const name of ['include_deleted', 'is_active', 'limit', 'offset', 'q', 'sort', 'external_key'])
      expectValidationError(await fixtures.own.client.get(assetPath(asset), { [name]: 'true' }), invalidContext(name))
    expectValidationError(await fixtures.own.client.get(assetPath(asset), { colour: 'red' }), unknownField('colour'))
  })
})

type Operation = [name: string, call: (path: string) => Promise<Reply>]

const own = () => fixtures.own.client
const operations: Operation[] = [
  ['GET', (path) => own().get(path)],
  ['PATCH', (path) => own().patch(path, { name: 'Seized' })],
  ['PATCH with an invalid body', (path) => own().patch(path, { name: '', colour: 'red' })],
  ['PATCH with a body that is not JSON', (path) => own().send('PATCH', path, { raw: '{', headers: merge })],
  ['DELETE', (path) => own().delete(path)],
  ['rename', (path) => own().post(`${path}/rename`, { external_key: 'SEIZED' })],
  ['rename with an invalid body', (path) => own().post(`${path}/rename`, {})],
  ['tag attach', (path) => own().post(`${path}/tags`, { tag_type: 'rfid', value: 'SEIZED' })],
  ['tag attach with an invalid body', (path) => own().post(`${path}/tags`, { tag_type: 'rfid' })],
  ['tag detach', (path) => own().delete(`${path}/tags/1`)],
]
const merge = { 'content-type': 'application/merge-patch+json' }

describe.each(operations)('%s of an asset', (name, call) => {
  it('of another organization is forbidden, or not found for a tag, and changes nothing there [D24]', async () => {
    const other = await fixtures.another()
    const asset = await other.create({ tags: [{ tag_type: 'rfid', value: 'THEIRS' }] })
    const reply = await fixtures.own.expectNoChange(() => other.expectNoChange(() => call(assetPath(asset))))
    expectApiError(reply, name === 'tag detach' ? 'not_found' : 'forbidden')
    expect(reply.text).not.toContain(asset.external_key)
  })

  it('that another organization has deleted is not found (D24)', async () => {
    const other = await fixtures.another()
    const asset = await other.create()
    await remove(other.client, 'assets', asset.id)
    expectApiError(await other.expectNoChange(() => call(assetPath(asset))), 'not_found')
  })

  it('that was deleted is not found, whatever the body (D6)', async () => {
    const asset = await fixtures.own.create()
    await remove(fixtures.own.client, 'assets', asset.id)
    expectApiError(await fixtures.own.expectNoChange(() => call(assetPath(asset))), 'not_found')
  })

  it.each([[1], [2147483647], [2147483648], [9007199254740991]])(
    'with the unused id %d is not found, whatever the body (D6)',
    async (id) => {
      expectApiError(await fixtures.own.expectNoChange(() => call(assetPath({ id }))), 'not_found')
    },
  )

  it('with the id of another kind of record is not found (D24)', async () => {
    const other = await fixtures.another()
    const asset = await fixtures.own.create({ tags: [{ tag_type: 'rfid', value: `T-${Math.random()}` }] })
    const mine = await create(fixtures.own.client, 'locations', { name: 'Dock' })
    const theirs = await create(other.client, 'locations', { name: 'Dock' })
    for (const id of [mine.id, theirs.id, asset.tags[0]!.id, fixtures.own.org.orgId])
      expectApiError(await fixtures.own.expectNoChange(() => call(assetPath({ id }))), 'not_found')
  })

  it.each([
    ['0', { code: 'too_small', params: { min: 1 } }],
    ['-1', { code: 'too_small', params: { min: 1 } }],
    ['-9007199254740993', { code: 'too_small', params: { min: 1 } }],
    ['9007199254740992', { code: 'too_large', params: { max: 9007199254740991 } }],
    ['99999999999999999999999999', { code: 'too_large', params: { max: 9007199254740991 } }],
    ['abc', { code: 'invalid_value' }],
    ['1.0', { code: 'invalid_value' }],
    ['1e3', { code: 'invalid_value' }],
    ['0x10', { code: 'invalid_value' }],
    ['+1', { code: 'invalid_value' }],
    ['%201', { code: 'invalid_value' }],
    ['null', { code: 'invalid_value' }],
    ['%00', { code: 'invalid_value' }],
    ['%FF', { code: 'invalid_value' }],
  ])('with the path id %s is rejected before the record is looked up', async (id, problem) => {
    expectValidationError(await call(`${assetsPath}/${id}`), { field: 'asset_id', ...problem })
  })
})

describe('an id', () => {
  it('is unique over all organizations and kinds (D12)', async () => {
    const ids: number[] = []
    for (let round = 0; round < 5; round++) {
      const org = await fixtures.another()
      const asset = await org.create({ tags: [{ tag_type: 'rfid', value: 'same' }] })
      const location = await create(org.client, 'locations', { name: 'Dock' })
      ids.push(org.org.orgId, asset.id, asset.tags[0]!.id, location.id)
    }
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(Number.isSafeInteger(id) && id >= 1).toBe(true)
  })
})
