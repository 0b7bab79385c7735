import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { type AssetFixture, assetPath, useAssetFixtures } from '../../../support/assets.ts'
import { create, remove } from '../../../support/master-data.ts'

const fixtures = useAssetFixtures(useApp())

const nextKey = async (org: AssetFixture): Promise<string> => (await org.create()).external_key

describe('a generated key', () => {
  it('counts up from ASSET-0001 separately in every organization (D18)', async () => {
    const [one, other] = [await fixtures.another(), await fixtures.another()]
    expect([await nextKey(one), await nextKey(one), await nextKey(other), await nextKey(one)]).toEqual([
      'ASSET-0001',
      'ASSET-0002',
      'ASSET-0001',
      'ASSET-0003',
    ])
  })

  it('is counted separately for assets and locations (D18)', async () => {
    const org = await fixtures.another()
    await nextKey(org)
    expect((await create(org.client, 'locations', { name: 'Dock' })).external_key).toBe('LOC-001')
    expect(await nextKey(org)).toBe('ASSET-0002')
  })

  it('can be read, renamed and searched like any other key', async () => {
    const org = await fixtures.another()
    const asset = await org.create()
    const list = await org.client.get('/api/v1/assets', { external_key: 'ASSET-0001' })
    expect(list.json.data).toStrictEqual([asset])
    expect((await org.client.post(`${assetPath(asset)}/rename`, { external_key: 'MINE' })).status).toBe(200)
    expect((await org.create({ external_key: 'ASSET-0001' })).external_key).toBe('ASSET-0001')
  })

  it('skips keys that clients have chosen (D18)', async () => {
    const org = await fixtures.another()
    for (const external_key of ['ASSET-0001', 'ASSET-0003', 'ASSET-0004']) await org.create({ external_key })
    expect([await nextKey(org), await nextKey(org), await nextKey(org)]).toEqual([
      'ASSET-0002',
      'ASSET-0005',
      'ASSET-0006',
    ])
  })

  it('skips keys that a rename has chosen (D18)', async () => {
    const org = await fixtures.another()
    const asset = await org.create({ external_key: 'MINE' })
    await org.client.post(`${assetPath(asset)}/rename`, { external_key: 'ASSET-0001' })
    expect(await nextKey(org)).toBe('ASSET-0002')
  })

  it('does not skip keys that only look similar', async () => {
    const org = await fixtures.another()
    for (const external_key of ['asset-0001', 'ASSET-1', 'ASSET-00001', ' ASSET-0001'])
      await org.create({ external_key })
    expect(await nextKey(org)).toBe('ASSET-0001')
  })

  it('does not skip keys of locations or of other organizations', async () => {
    const [org, other] = [await fixtures.another(), await fixtures.another()]
    await create(org.client, 'locations', { name: 'Dock', external_key: 'ASSET-0001' })
    await other.create({ external_key: 'ASSET-0001' })
    expect(await nextKey(org)).toBe('ASSET-0001')
  })

  it('is never the key of a live asset, also when deleted assets had it', async () => {
    const org = await fixtures.another()
    const asset = await org.create({ external_key: 'ASSET-0001' })
    await remove(org.client, 'assets', asset.id)
    expect(await nextKey(org)).toBe('ASSET-0001')
  })

  it('skips a run of 1500 keys in use in one create (D18)', async () => {
    const org = await fixtures.another()
    await org.create({ external_key: 'IMPORTED' })
    await fixtures.sql`
      insert into assets (org_id, id, external_key, name, description, metadata, is_active, valid_from, valid_to,
        created_at, updated_at, search_text)
      select a.org_id, a.id - number, 'ASSET-' || lpad(number::text, 4, '0'), a.name, a.description, a.metadata,
        a.is_active, a.valid_from, a.valid_to, a.created_at, a.updated_at, a.search_text
      from assets a cross join generate_series(1, 1500) number where a.org_id = ${org.org.orgId}`
    expect([await nextKey(org), await nextKey(org)]).toEqual(['ASSET-1501', 'ASSET-1502'])
  })

  it('grows past four digits (D18)', async () => {
    const org = await fixtures.another()
    await nextKey(org)
    await fixtures.sql`update key_counters set last = 9998 where org_id = ${org.org.orgId} and kind = 'asset'`
    expect([await nextKey(org), await nextKey(org), await nextKey(org)]).toEqual([
      'ASSET-9999',
      'ASSET-10000',
      'ASSET-10001',
    ])
  })

  it('of a rejected create is not used again', async () => {
    const org = await fixtures.another()
    const tags = [{ tag_type: 'rfid', value: 'HELD' }]
    await org.create({ tags })
    expect((await org.post({ name: 'a', tags })).status).toBe(409)
    expect(await nextKey(org)).toMatch(/^ASSET-000[23]$/)
  })
})
