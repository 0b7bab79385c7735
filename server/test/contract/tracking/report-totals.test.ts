import { describe, expect, it } from 'vitest'
import { deleteAsset } from '../../../src/assets/commands.ts'
import { Site, type SiteAsset, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`
const path = '/api/v1/reports/asset-locations'

/** Total without and with deleted assets; each must equal the number of rows. */
async function totals(site: Site): Promise<[live: number, all: number]> {
  const counts: number[] = []
  for (const query of [{}, { include_deleted: true }] as Record<string, boolean>[]) {
    const plain = (await site.api.get(path, { limit: 200, ...query })).json
    const filtered = (await site.api.get(path, { limit: 200, q: 'thing', ...query })).json
    expect(plain.data).toHaveLength(plain.total_count)
    expect(filtered.total_count).toBe(plain.total_count)
    counts.push(plain.total_count)
  }
  return counts as [number, number]
}

describe('the total of the report', () => {
  it('is exact after every kind of change', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    expect(await totals(site)).toEqual([0, 0])
    const [first, second, third] = [
      await site.createAsset('Thing 1'),
      await site.createAsset('Thing 2'),
      await site.createAsset('Thing 3'),
    ]
    expect(await totals(site)).toEqual([0, 0])

    await site.sendReads({ tag: first.tag, observed_at: at('10:00:00') })
    expect(await totals(site)).toEqual([1, 1])
    await site.sendReads(
      { tag: first.tag, observed_at: at('10:00:00') },
      { tag: first.tag, observed_at: at('10:01:00') },
    )
    expect(await totals(site)).toEqual([1, 1])
    await site.sendReads({ tag: first.tag, observed_at: at('09:00:00') })
    expect(await totals(site)).toEqual([1, 1])

    await site.recordSighting(site.locations[0]!, [first, second], at('10:02:00'))
    expect(await totals(site)).toEqual([2, 2])
    await site.recordSighting(site.locations[1]!, [first, second], at('10:02:30'))
    expect(await totals(site)).toEqual([2, 2])

    await site.sendReads({ tag: third.tag, antenna: 9, observed_at: at('10:00:00') })
    expect(await totals(site)).toEqual([3, 3])

    await site.api.patch(`/api/v1/assets/${third.id}`, { is_active: false })
    expect(await totals(site)).toEqual([3, 3])
    await site.api.post(`/api/v1/assets/${third.id}/rename`, { external_key: 'OTHER' })
    expect(await totals(site)).toEqual([3, 3])

    expect((await site.api.delete(`/api/v1/assets/${third.id}`)).status).toBe(204)
    expect(await totals(site)).toEqual([2, 3])
    expect((await site.api.delete(`/api/v1/assets/${third.id}`)).status).toBe(404)
    expect(await totals(site)).toEqual([2, 3])

    const fourth = await site.createAsset('Thing 4')
    expect((await site.api.delete(`/api/v1/assets/${fourth.id}`)).status).toBe(204)
    expect(await totals(site)).toEqual([2, 3])
  })

  it('counts a reused key as another asset', async () => {
    const site = await Site.open(context.app, 'Dock')
    const old = await site.createAsset('Thing')
    await site.sendReads({ tag: old.tag, observed_at: at('10:00:00') })
    await site.api.delete(`/api/v1/assets/${old.id}`)
    const renewed = await site.createAsset('Thing', { tags: [{ tag_type: 'rfid', value: old.tag }] })
    expect(await totals(site)).toEqual([0, 1])
    await site.sendReads({ tag: old.tag, observed_at: at('10:05:00') })
    expect(await totals(site)).toEqual([1, 2])
    const reply = await site.api.get(path, { asset_external_key: 'THING', include_deleted: true })
    expect(reply.json.data.map((row: { asset_id: number }) => row.asset_id)).toEqual([renewed.id, old.id])
  })

  it('is not affected by reads of unknown tags', async () => {
    const site = await Site.open(context.app, 'Dock')
    const reply = await site.post({ reads: [{ tag: 'ABCDEF0123456789', observed_at: at('10:00:00') }] })
    expect(reply.json).toEqual({ data: { accepted: 0, ignored: 1 } })
    expect(await totals(site)).toEqual([0, 0])
  })

  it('is exact when assets are first seen and deleted at the same moment', async () => {
    const site = await Site.open(context.app, 'Dock')
    const assets: SiteAsset[] = []
    for (let number = 0; number < 24; number++) assets.push(await site.createAsset(`Thing ${number}`))
    await Promise.all(
      assets.flatMap((asset, index) => [
        site.post({ reads: [{ tag: asset.tag, observed_at: at('10:00:00') }] }),
        ...(index % 2 === 0 ? [deleteAsset(context.app.context, site.org.orgId, asset.id)] : []),
      ]),
    )
    const [live, all] = await totals(site)
    expect(live).toBe(12)
    expect(all).toBeGreaterThanOrEqual(12)
    expect(all).toBeLessThanOrEqual(24)
  })
})
