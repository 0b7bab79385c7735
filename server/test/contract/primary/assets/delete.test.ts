import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { type AssetJson, assetsPath, assetPath, useAssetFixtures } from '../../../support/assets.ts'
import { expectApiError } from '../../../support/error-response.ts'
import { create, remove } from '../../../support/master-data.ts'
import { expectValidationError, invalidContext } from '../../../support/validation-errors.ts'

const clock = { at: Date.parse('2026-03-02T12:00:00.000Z'), millis: () => clock.at }
const fixtures = useAssetFixtures(useApp({ clock }))

/** The record as the list with include_deleted shows it. */
async function deletedRecord(key: string): Promise<AssetJson> {
  const reply = await fixtures.own.client.get(assetsPath, { external_key: key, include_deleted: true })
  expect(reply.json.total_count).toBe(1)
  return reply.json.data[0]
}

describe('deleting an asset', () => {
  it('answers 204 without a body', async () => {
    const reply = await fixtures.own.client.delete(assetPath(await fixtures.own.create()))
    expect(reply.status).toBe(204)
    expect(reply.text).toBe('')
    expect(reply.headers['content-type']).toBeUndefined()
  })

  it('is soft: the record stays with its deleted_at, and nothing else of it changes but updated_at and tags', async () => {
    const body = { external_key: 'SOFT', metadata: { a: 1 }, tags: [{ tag_type: 'rfid', value: 'SOFT' }] }
    const asset = await fixtures.own.create(body)
    clock.at += 1000
    await remove(fixtures.own.client, 'assets', asset.id)
    const deleted_at = new Date(clock.at).toISOString()
    expect(await deletedRecord('SOFT')).toStrictEqual({ ...asset, tags: [], updated_at: deleted_at, deleted_at })
  })

  it('advances updated_at strictly, also while the clock does not advance (D21)', async () => {
    const asset = await fixtures.own.create({ external_key: 'STILL' })
    await remove(fixtures.own.client, 'assets', asset.id)
    expect(Date.parse((await deletedRecord('STILL')).updated_at)).toBeGreaterThan(Date.parse(asset.updated_at))
  })

  it('is not found the second time, and the record keeps its first deleted_at', async () => {
    const asset = await fixtures.own.create({ external_key: 'TWICE' })
    await remove(fixtures.own.client, 'assets', asset.id)
    const first = await deletedRecord('TWICE')
    clock.at += 1000
    const reply = await fixtures.own.expectNoChange(() => fixtures.own.client.delete(assetPath(asset)))
    expectApiError(reply, 'not_found')
    expect(await deletedRecord('TWICE')).toStrictEqual(first)
  })

  it('removes the record from every query', async () => {
    const org = await fixtures.another()
    const stays = await org.create({ name: 'Stays' })
    const asset = await org.create({ name: 'Leaves', tags: [{ tag_type: 'rfid', value: 'LEAVES' }] })
    await remove(org.client, 'assets', asset.id)
    expectApiError(await org.client.get(assetPath(asset)), 'not_found')
    for (const query of [{}, { q: 'leaves' }, { external_key: asset.external_key }, { is_active: true }]) {
      const reply = await org.client.get(assetsPath, query)
      const rows = Object.keys(query).some((name) => name === 'q' || name === 'external_key') ? [] : [stays]
      expect(reply.json).toMatchObject({ data: rows, total_count: rows.length })
    }
  })

  it('is not bypassed by include_deleted on the asset’s own path', async () => {
    const asset = await fixtures.own.create()
    await remove(fixtures.own.client, 'assets', asset.id)
    const reply = await fixtures.own.client.get(assetPath(asset), { include_deleted: true })
    expectValidationError(reply, invalidContext('include_deleted'))
  })

  it('frees its key and its tags at once, for an asset and for a location (D22)', async () => {
    const tags = [
      { tag_type: 'rfid', value: 'FREED' },
      { tag_type: 'ble', value: 'AA:BB' },
      { tag_type: 'barcode', value: 'FREED' },
    ]
    const first = await fixtures.own.create({ external_key: 'FREED', tags })
    expectApiError(await fixtures.own.post({ name: 'a', tags }), 'conflict')
    await remove(fixtures.own.client, 'assets', first.id)
    const second = await fixtures.own.create({ external_key: 'FREED', tags })
    expect(second.tags.map(({ tag_type, value }) => ({ tag_type, value }))).toEqual(tags)
    for (const tag of second.tags) expect(first.tags.map(({ id }) => id)).not.toContain(tag.id)
    await remove(fixtures.own.client, 'assets', second.id)
    expect((await create(fixtures.own.client, 'locations', { name: 'Dock', tags })).tags).toHaveLength(3)
  })

  it('makes its tags unfindable', async () => {
    const asset = await fixtures.own.create({ tags: [{ tag_type: 'rfid', value: 'NOWHERE' }] })
    const other = await fixtures.own.create()
    await remove(fixtures.own.client, 'assets', asset.id)
    for (const owner of [asset, other])
      expectApiError(await fixtures.own.client.delete(`${assetPath(owner)}/tags/${asset.tags[0]!.id}`), 'not_found')
  })

  it('may be repeated with the same key any number of times, and every deleted record stays', async () => {
    const org = await fixtures.another()
    const ids = new Set<number>()
    for (let round = 0; round < 4; round++) {
      const asset = await org.create({ external_key: 'AGAIN' })
      ids.add(asset.id)
      await remove(org.client, 'assets', asset.id)
    }
    const live = await org.create({ external_key: 'AGAIN' })
    ids.add(live.id)
    const all = await org.client.get(assetsPath, { external_key: 'AGAIN', include_deleted: true })
    expect(new Set(all.json.data.map((row: AssetJson) => row.id))).toEqual(ids)
    expect((await org.client.get(assetsPath)).json.data).toStrictEqual([live])
  })

  it('is possible in any state of the asset, and wherever it was last seen', async () => {
    const org = await fixtures.another()
    const dock = await create(org.client, 'locations', { name: 'Dock' })
    const seen = await org.create()
    await fixtures.sql`
      insert into asset_positions (org_id, asset_id, location_id, last_seen_at)
      values (${org.org.orgId}, ${seen.id}, ${dock.id}, now())`
    const inactive = await org.create({ is_active: false })
    const expired = await org.create({ valid_from: '2001-01-01T00:00:00Z', valid_to: '2002-01-01T00:00:00Z' })
    const coming = await org.create({ valid_from: '2090-01-01T00:00:00Z' })
    for (const asset of [seen, inactive, expired, coming]) await remove(org.client, 'assets', asset.id)
    await remove(org.client, 'locations', dock.id)
  })

  it('needs no Content-Type and ignores a body (D8)', async () => {
    const asset = await fixtures.own.create()
    const reply = await fixtures.own.client.send('DELETE', assetPath(asset), {
      raw: '{"name":',
      headers: { 'content-type': 'text/plain' },
    })
    expect(reply.status).toBe(204)
  })

  it('needs assets:write', async () => {
    const asset = await fixtures.own.create()
    const reader = fixtures.own.org.client('assets:read', 'locations:write')
    const reply = await fixtures.own.expectNoChange(() => reader.delete(assetPath(asset)))
    expectApiError(reply, 'forbidden', { detail: 'Missing required scope: assets:write' })
  })
})
