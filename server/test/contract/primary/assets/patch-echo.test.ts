import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { type AssetJson, assetPath, useAssetFixtures } from '../../../support/assets.ts'
import type { Reply } from '../../../support/client.ts'
import { expectValidationError, invalidContext, readOnly, unknownField } from '../../../support/validation-errors.ts'

const clock = { at: Date.parse('2026-03-02T12:34:56.789Z'), millis: () => clock.at }
const fixtures = useAssetFixtures(useApp({ clock }))

const tagged = (count = 2): Promise<AssetJson> =>
  fixtures.own.create({
    tags: Array.from({ length: count }, () => ({ tag_type: 'barcode', value: `T-${Math.random()}` })),
  })

async function isIgnored(asset: AssetJson, body: object): Promise<Reply> {
  const reply = await fixtures.own.patch(asset, body)
  expect(reply.status, reply.text).toBe(200)
  expect(reply.json.data).toStrictEqual({ ...asset, updated_at: expect.any(String) })
  expect(reply.json.data.updated_at > asset.updated_at).toBe(true)
  return reply
}

describe('a PATCH that sends back what was read', () => {
  it('accepts the whole asset as it was read and changes only updated_at', async () => {
    const made = await tagged()
    await fixtures.own.patch(made, { name: 'Changed', description: 'x', metadata: { a: { b: [1] } } })
    const asset = await fixtures.own.read(made)
    await isIgnored(asset, asset)
  })

  it('accepts the whole response of a create, a PATCH and an attach, one after the other', async () => {
    const asset = await tagged(1)
    const second = await isIgnored(asset, asset)
    const third = await isIgnored(second.json.data, second.json.data)
    await fixtures.own.client.post(`${assetPath(asset)}/tags`, { tag_type: 'rfid', value: `T-${Math.random()}` })
    const now = await fixtures.own.read(asset)
    expect(now.updated_at).toBe(third.json.data.updated_at)
    await isIgnored(now, now)
  })

  it.each([
    ['id', (asset: AssetJson) => ({ id: asset.id })],
    ['external_key', (asset: AssetJson) => ({ external_key: asset.external_key })],
    ['created_at', (asset: AssetJson) => ({ created_at: asset.created_at })],
    ['updated_at', (asset: AssetJson) => ({ updated_at: asset.updated_at })],
    ['a null deleted_at', () => ({ deleted_at: null })],
    ['tags', (asset: AssetJson) => ({ tags: asset.tags })],
  ])('ignores an equal %s', async (_what, body) => {
    const asset = await tagged()
    await isIgnored(asset, body(asset))
  })

  it('ignores an empty list of tags on an asset without tags', async () => {
    const asset = await tagged(0)
    await isIgnored(asset, { tags: [] })
  })

  const noon = '2026-03-02T12:34:56.789'
  it.each([
    ['Z', `${noon}Z`],
    ['a small z and t', '2026-03-02t12:34:56.789z'],
    ['+00:00', `${noon}+00:00`],
    ['-00:00', `${noon}-00:00`],
    ['an offset ahead', '2026-03-02T18:04:56.789+05:30'],
    ['an offset behind', '2026-03-01T20:34:56.789-16:00'],
    ['zeros behind the milliseconds', `${noon}000000Z`],
    ['digits behind the milliseconds', `${noon}123456Z`],
    ['an offset and more digits', '2026-03-02T13:34:56.7890+01:00'],
  ])('compares created_at and updated_at by instant, so %s is equal', async (_what, text) => {
    const asset = await tagged()
    expect(asset.updated_at).toBe(`${noon}Z`)
    await isIgnored(asset, { created_at: text, updated_at: text })
  })
})

describe('a PATCH that contradicts what the server manages', () => {
  const early = '2026-03-02T12:34:56.788Z'
  it.each([
    ['another id', { id: 7 }, 'id'],
    ['the id as text', (asset: AssetJson) => ({ id: String(asset.id) }), 'id'],
    ['a null id', { id: null }, 'id'],
    ['an earlier created_at', { created_at: early }, 'created_at'],
    ['a null created_at', { created_at: null }, 'created_at'],
    ['an updated_at one millisecond early', { updated_at: early }, 'updated_at'],
    ['an updated_at one millisecond late', { updated_at: '2026-03-02T12:34:56.790Z' }, 'updated_at'],
    ['an updated_at of the same wall clock elsewhere', { updated_at: '2026-03-02T12:34:56.789+01:00' }, 'updated_at'],
    ['an updated_at truncated to seconds', { updated_at: '2026-03-02T12:34:56Z' }, 'updated_at'],
    ['a null updated_at', { updated_at: null }, 'updated_at'],
    ['an updated_at that is a number', { updated_at: Date.parse('2026-03-02T12:34:56.789Z') }, 'updated_at'],
    ['an updated_at that is no timestamp', { updated_at: 'today' }, 'updated_at'],
    ['an empty updated_at', { updated_at: '' }, 'updated_at'],
    ['a deleted_at', { deleted_at: early }, 'deleted_at'],
    ['an empty deleted_at', { deleted_at: '' }, 'deleted_at'],
  ])('by %s is rejected as read-only and changes nothing', async (_what, body, field) => {
    const asset = await tagged()
    const sent = { name: 'New', ...(typeof body === 'function' ? body(asset) : body) }
    expectValidationError(await fixtures.own.expectNoChange(() => fixtures.own.patch(asset, sent)), readOnly(field))
  })

  it('with a stale updated_at is rejected with read_only on updated_at, and accepted with a fresh one', async () => {
    const asset = await tagged()
    const first = await fixtures.own.patch(asset, { name: 'First', updated_at: asset.updated_at })
    expect(first.status).toBe(200)
    const stale = { name: 'Second', updated_at: asset.updated_at }
    const reply = await fixtures.own.expectNoChange(() => fixtures.own.patch(asset, stale))
    expectValidationError(reply, readOnly('updated_at'))
    expect(reply.json.error.fields[0].field).toBe('updated_at')
    const again = await fixtures.own.patch(asset, { ...stale, updated_at: first.json.data.updated_at })
    expect(again.json.data.name).toBe('Second')
  })

  it('is rejected after a rename too, but not after tags were attached or detached (D21)', async () => {
    const asset = await tagged(0)
    const tag = await fixtures.own.client.post(`${assetPath(asset)}/tags`, {
      tag_type: 'rfid',
      value: 'COMES-AND-GOES',
    })
    await fixtures.own.client.delete(`${assetPath(asset)}/tags/${tag.json.data.id}`)
    const fresh = await fixtures.own.patch(asset, { updated_at: asset.updated_at })
    expect(fresh.status).toBe(200)
    await fixtures.own.client.post(`${assetPath(asset)}/rename`, { external_key: `R-${asset.id}` })
    const token = { updated_at: fresh.json.data.updated_at }
    expectValidationError(
      await fixtures.own.expectNoChange(() => fixtures.own.patch(asset, token)),
      readOnly('updated_at'),
    )
  })
})

describe('a PATCH of fields that have their own operation', () => {
  type Body = (asset: AssetJson) => object
  const changed = { tag_type: 'barcode', value: 'changed' }
  const table: [string, string, Body][] = [
    ['external_key', 'another key', () => ({ external_key: 'OTHER' })],
    ['external_key', 'the key in another case', (asset) => ({ external_key: asset.external_key.toLowerCase() })],
    ['external_key', 'the key with a blank', (asset) => ({ external_key: `${asset.external_key} ` })],
    ['external_key', 'no key', () => ({ external_key: null })],
    ['external_key', 'an empty key', () => ({ external_key: '' })],
    ['external_key', 'a number', () => ({ external_key: 7 })],
    ['tags', 'no tags', () => ({ tags: null })],
    ['tags', 'an empty list', () => ({ tags: [] })],
    ['tags', 'one tag less', (asset) => ({ tags: asset.tags.slice(1) })],
    ['tags', 'one tag more', (asset) => ({ tags: [...asset.tags, { id: 7, ...changed }] })],
    ['tags', 'one tag twice', (asset) => ({ tags: [asset.tags[0], asset.tags[0]] })],
    ['tags', 'another value', (asset) => ({ tags: [asset.tags[0], { ...asset.tags[1], value: 'changed' }] })],
    ['tags', 'another type', (asset) => ({ tags: [asset.tags[0], { ...asset.tags[1], tag_type: 'rfid' }] })],
    ['tags', 'another id', (asset) => ({ tags: [asset.tags[0], { ...asset.tags[1], id: 7 }] })],
    ['tags', 'an object', () => ({ tags: {} })],
    ['tags', 'a text', () => ({ tags: 'none' })],
    ['tags', 'nulls', () => ({ tags: [null, null] })],
  ]
  it.each(table)('with %s of %s is rejected as invalid_context and changes nothing', async (field, _what, body) => {
    const asset = await tagged()
    const send = () => fixtures.own.patch(asset, { name: 'New', ...body(asset) })
    expectValidationError(await fixtures.own.expectNoChange(send), invalidContext(field))
  })

  it('reports all changed read-only fields: a stale updated_at first, then the other server-managed fields [D7]', async () => {
    const asset = await tagged()
    const body = { tags: [], deleted_at: asset.created_at, updated_at: 'x', created_at: null, external_key: 'x', id: 7 }
    expectValidationError(
      await fixtures.own.expectNoChange(() => fixtures.own.patch(asset, body)),
      readOnly('updated_at'),
      readOnly('id'),
      readOnly('created_at'),
      readOnly('deleted_at'),
      invalidContext('external_key'),
      invalidContext('tags'),
    )
  })

  it('rejects descendant_count_affected, which only a rename returns', async () => {
    const asset = await tagged(0)
    const renamed = await fixtures.own.client.post(`${assetPath(asset)}/rename`, { external_key: asset.external_key })
    expectValidationError(await fixtures.own.patch(asset, renamed.json.data), unknownField('descendant_count_affected'))
  })
})
