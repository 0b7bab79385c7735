import { beforeEach, describe, expect, it } from 'vitest'
import { Site, type SiteAsset, useTracking } from '../../support/tracking.ts'

const start = '2026-05-04T12:00:00.000Z'
const context = useTracking(start)

const at = (clock: string): string => `2026-05-04T${clock}Z`
const after = (offsetMs: number): string => new Date(Date.parse(start) + offsetMs).toISOString()

const report = '/api/v1/reports/asset-locations'
const current = '/natural/api/v1/locations/current'

/** All queries for the report of all assets; each must return the same rows and an exact total. */
const views: [path: string, query: Record<string, string | boolean>, key: string][] = [
  [report, {}, 'asset_external_key'],
  [report, { sort: 'asset_external_key' }, 'asset_external_key'],
  [report, { q: 'thing' }, 'asset_external_key'],
  [report, { location_external_key: 'DOCK' }, 'asset_external_key'],
  [report, { at: at('11:30:00') }, 'asset_external_key'],
  [report, { at: '2999-01-01T00:00:00Z' }, 'asset_external_key'],
  [current, {}, 'asset'],
  [current, { sort: 'asset' }, 'asset'],
  [current, { q: 'thing' }, 'asset'],
  [current, { location: 'DOCK' }, 'asset'],
]

describe('The validity window in the asset-locations report and locations/current', () => {
  let site: Site

  beforeEach(async () => {
    context.clock.set(start)
    site = await Site.open(context.app, 'Dock')
  })

  const seen = async (name: string, more: object = {}): Promise<SiteAsset> => {
    const asset = await site.createAsset(`Thing ${name}`, { external_key: name, ...more })
    await site.sendReads({ tag: asset.tag, observed_at: at('11:00:00') })
    return asset
  }

  async function listed(offsetMs: number, extra: Record<string, boolean> = {}): Promise<string[]> {
    context.clock.set(after(offsetMs))
    const answers: string[][] = []
    for (const [path, query, key] of views) {
      if (path === current && Object.keys(extra).length > 0) continue
      const reply = await site.api.get(path, { limit: 200, ...query, ...extra })
      expect(reply.status, reply.text).toBe(200)
      expect(reply.json.total_count, `${path} ${JSON.stringify(query)}`).toBe(reply.json.data.length)
      answers.push(reply.json.data.map((row: Record<string, string>) => row[key]).sort())
    }
    for (const answer of answers) expect(answer).toEqual(answers[0])
    return answers[0]!
  }

  it('hides an asset before valid_from and from valid_to on, evaluated at the current time, also with `at` [D15]', async () => {
    await seen('ALWAYS')
    await seen('LATER', { valid_from: after(1000) })
    await seen('OVER', { valid_from: after(-2000), valid_to: after(0) })
    await seen('ENDS', { valid_to: after(1000) })
    expect(await listed(0)).toEqual(['ALWAYS', 'ENDS'])
    expect(await listed(999)).toEqual(['ALWAYS', 'ENDS'])
    expect(await listed(1000)).toEqual(['ALWAYS', 'LATER'])
  })

  it('is evaluated to the microsecond [D15]', async () => {
    await seen('LATER', { valid_from: after(1000).replace('Z', '001Z') })
    await seen('ENDS', { valid_to: after(1000).replace('Z', '001Z') })
    expect(await listed(1000)).toEqual(['ENDS'])
    expect(await listed(1001)).toEqual(['LATER'])
  })

  it('is not lifted by include_deleted, which adds deleted assets that are inside their window [D15]', async () => {
    await seen('LIVE')
    await seen('LIVE-OVER', { valid_from: after(-2000), valid_to: after(-1000) })
    const gone = [await seen('GONE'), await seen('GONE-OVER', { valid_from: after(-2000), valid_to: after(-1000) })]
    gone.push(await seen('GONE-LATER', { valid_from: after(5000) }))
    for (const { id } of gone) expect((await site.api.delete(`/api/v1/assets/${id}`)).status).toBe(204)
    expect(await listed(0)).toEqual(['LIVE'])
    expect(await listed(0, { include_deleted: true })).toEqual(['GONE', 'LIVE'])
    expect(await listed(5000, { include_deleted: true })).toEqual(['GONE', 'GONE-LATER', 'LIVE'])
  })

  it('does not affect the total for assets that were never scanned [D15]', async () => {
    await seen('SEEN')
    await site.createAsset('Thing never', { valid_to: after(1) })
    await site.createAsset('Thing not yet', { valid_from: after(60_000) })
    expect(await listed(10)).toEqual(['SEEN'])
  })

  it('is independent of is_active [D15]', async () => {
    await seen('INACTIVE', { is_active: false })
    expect(await listed(0)).toEqual(['INACTIVE'])
  })

  it('reflects a PATCH of either end, and leaves pages without gaps [D15]', async () => {
    const assets: SiteAsset[] = []
    for (const name of ['A', 'B', 'C', 'D', 'E']) assets.push(await seen(name))
    const change = async (index: number, body: object): Promise<void> => {
      expect((await site.api.patch(`/api/v1/assets/${assets[index]!.id}`, body)).status).toBe(200)
    }
    await change(1, { valid_from: after(60_000) })
    await change(3, { valid_from: after(-2000), valid_to: after(-1000) })
    expect(await listed(1)).toEqual(['A', 'C', 'E'])
    const pages: string[] = []
    for (let offset = 0; offset < 4; offset++) {
      const { json } = await site.api.get(report, { sort: 'asset_external_key', limit: 1, offset })
      expect(json.total_count).toBe(3)
      pages.push(...json.data.map((row: { asset_external_key: string }) => row.asset_external_key))
    }
    expect(pages).toEqual(['A', 'C', 'E'])
    await change(3, { valid_to: null })
    expect(await listed(2)).toEqual(['A', 'C', 'D', 'E'])
  })

  it('does not hide the history of an asset outside of it [D15]', async () => {
    const asset = await seen('OVER', { valid_from: after(-2000), valid_to: after(-1000) })
    expect(await listed(0)).toEqual([])
    expect((await site.api.get(`/api/v1/assets/${asset.id}/history`)).json.total_count).toBe(1)
    expect((await site.api.get('/natural/api/v1/assets/OVER/history')).json.total_count).toBe(1)
  })
})

describe('The two names of one filter of the report', () => {
  it('give the same rows with include_deleted, for deleted assets and for deleted locations [D25]', async () => {
    context.clock.set(start)
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const [live, gone] = [await site.createAsset('Live'), await site.createAsset('Gone')]
    await site.sendReads(
      { tag: live.tag, antenna: 1, observed_at: at('11:00:00') },
      { tag: gone.tag, antenna: 2, observed_at: at('11:00:00') },
    )
    expect((await site.api.delete(`/api/v1/assets/${gone.id}`)).status).toBe(204)
    const hall = site.locations[1]!
    const asked = async (query: string): Promise<string[]> => {
      const reply = await site.api.get(report, query)
      expect(reply.json.total_count).toBe(reply.json.data.length)
      return reply.json.data.map((row: { asset_external_key: string }) => row.asset_external_key)
    }
    const both = async (id: string, key: string, more: string): Promise<string[]> => {
      const rows = await asked(`${id}${more}`)
      expect(await asked(`${key}${more}`)).toEqual(rows)
      return rows
    }
    const byAsset = [`asset_id=${gone.id}`, 'asset_external_key=GONE'] as const
    const byHall = [`location_id=${hall.id}`, 'location_external_key=HALL'] as const
    expect(await both(...byAsset, '')).toEqual([])
    expect(await both(...byAsset, '&include_deleted=true')).toEqual(['GONE'])
    expect(await both(...byHall, '')).toEqual([])
    expect(await both(...byHall, '&include_deleted=true')).toEqual(['GONE'])
    // A deleted location is null in the report, so neither filter matches its rows.
    expect((await site.api.delete(`/api/v1/locations/${hall.id}`)).status).toBe(204)
    expect(await both(...byHall, '&include_deleted=true')).toEqual([])
    expect(await both(...byAsset, '&include_deleted=true')).toEqual(['GONE'])
  })
})
