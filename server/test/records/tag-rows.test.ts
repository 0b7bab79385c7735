import { beforeAll, describe, expect, it } from 'vitest'
import type { Asset } from '../../src/assets/asset.ts'
import {
  assetBatch,
  assetRepository,
  assetWithLocationRepository,
  listAssets,
  listAssetsWithLocation,
} from '../../src/assets/assets.sql.ts'
import { assetBulk } from '../../src/assets/bulk.sql.ts'
import { createAsset } from '../../src/assets/commands.ts'
import type { Db, Tx } from '../../src/db/database.ts'
import { now, systemClock } from '../../src/kernel/clock.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { useAppContext } from '../support/app-context.ts'

const used = useAppContext()
const keys = ['A', 'B']
let orgId: number
let first: Asset

beforeAll(async () => {
  orgId = (await createOrganization(used.context, 'Tags')).orgId
  for (const key of keys) {
    const tags = ['1', '2', '3'].map((value) => ({ type: 'rfid' as const, value: key + value }))
    const draft = {
      ...{ externalKey: key, name: 'a', description: `text of ${key}` },
      isActive: true,
      validTo: null,
      tags,
    }
    const asset = await createAsset(used.context, orgId, { ...draft, type: 'asset', metadata: { key } })
    if (key === 'A') first = asset
  }
})

const all = { externalKeys: undefined, q: undefined }
const list = (filter: object) => ({
  filter: { ...all, ...filter },
  sort: [{ field: 'name' as const, descending: true }],
  ...{ limit: 50, offset: 0, now: now(systemClock) },
})

const reads: [string, (db: Db) => Promise<(Asset | null)[]>][] = [
  ['a read by id', async (db) => [await assetRepository.find(db, orgId, first.id)]],
  ['a read by key', async (db) => [await assetWithLocationRepository.find(db, orgId, { key: 'A' })]],
  ['a list', async (db) => (await listAssets(db, orgId, list({}))).rows],
  ['a search', async (db) => (await listAssets(db, orgId, list({ q: 'a' }))).rows],
  ['a list with locations', async (db) => (await listAssetsWithLocation(db, orgId, list({}), {})).rows],
  ['an export', (db) => assetBatch(db, orgId, { after: 0, maxRows: 200 })],
  ['an import', (db) => assetBulk.byKeys(db as Tx, orgId, keys)],
]

describe('The metadata and the texts of an asset with several tags', () => {
  it.each(reads)('are read once by %s', async (_name, read) => {
    const rows: Record<string, string | null>[] = []
    const assets = await read({
      query: async (statement) => {
        const found = await used.context.db.read.query(statement)
        rows.push(...(found as typeof rows))
        return found as never[]
      },
    })
    for (const column of ['metadata', 'external_key', 'name', 'description'])
      expect(
        rows.filter((row) => row[column] != null),
        column,
      ).toHaveLength(assets.length)
    for (const asset of assets) {
      expect(asset?.metadata).toEqual({ key: asset?.externalKey })
      expect(asset?.description).toBe(`text of ${asset?.externalKey}`)
      expect(asset?.tags.map(({ value }) => value)).toEqual(['1', '2', '3'].map((value) => asset!.externalKey + value))
    }
    expect(assets.map((asset) => asset?.externalKey).sort()).toEqual(keys.slice(0, assets.length))
  })
})
