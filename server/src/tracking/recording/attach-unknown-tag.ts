import { createAsset } from '../../assets/commands.ts'
import { assetRepository } from '../../assets/assets.sql.ts'
import { attachTag } from '../../records/commands.ts'
import type { TagDraft } from '../../tags/tag.ts'
import { type LastRead, deleteUnknownTag, lastUnknownRead } from '../unknown-tags.sql.ts'
import type { AssetLocationDeps } from './asset-at-location.ts'
import { recordReads } from './record-reads.ts'

export interface AttachedTag {
  assetId: number
  /** The read that was recorded as a sighting of the asset; null when the tag was not among the unknown tags. */
  lastRead: LastRead | null
}

/**
 * Records the latest read of a tag that was unknown until now, as if the reader had sent it again. Recording a read twice
 * changes nothing. The read counts for one asset only, so the unknown tag is deleted afterwards.
 */
async function recordLastRead(deps: AssetLocationDeps, orgId: number, tag: TagDraft): Promise<LastRead | null> {
  const lastRead = await lastUnknownRead(deps.db.read, orgId, tag)
  if (lastRead === null) return null
  const { moves } = await recordReads(deps, orgId, [{ ...lastRead, identities: [tag], rssiDbm: null }])
  if (moves > 0) deps.moved(orgId)
  await deps.db.withTenant(orgId, (tx) => deleteUnknownTag(tx, orgId, tag))
  return lastRead
}

/** Attaches an unknown tag to an asset, which thereby was seen where and when the tag was last read. */
export async function attachUnknownTag(
  deps: AssetLocationDeps,
  orgId: number,
  assetId: number,
  tag: TagDraft,
): Promise<AttachedTag> {
  await attachTag(deps, assetRepository, orgId, assetId, tag)
  return { assetId, lastRead: await recordLastRead(deps, orgId, tag) }
}

/** Creates an asset with an unknown tag; the asset thereby was seen where and when the tag was last read. */
export async function createAssetWithUnknownTag(
  deps: AssetLocationDeps,
  orgId: number,
  name: string,
  tag: TagDraft,
): Promise<AttachedTag> {
  const draft = { name, description: null, isActive: true, validTo: null, metadata: {}, tags: [tag] }
  const { id } = await createAsset(deps, orgId, draft)
  return { assetId: id, lastRead: await recordLastRead(deps, orgId, tag) }
}
