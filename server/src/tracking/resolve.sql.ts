import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type TagDraft, matchValue } from '../tags/tag.ts'

export const tagKey = (tag: TagDraft): string => `${tag.type} ${matchValue(tag)}`

/** Which of the tags hang on an asset or on a location, by `tagKey`. */
export async function resolveTags(
  tx: Tx,
  orgId: number,
  tags: ReadonlyMap<string, TagDraft>,
): Promise<Map<string, { assetId: number | null; locationId: number | null }>> {
  const keys = [...tags.keys()]
  const drafts = [...tags.values()]
  const rows = await tx.query<{ place: number; asset_id: number | null; location_id: number | null }>(sql`
    select u.place, t.asset_id, t.location_id
    from unnest(${drafts.map((tag) => tag.type)}::text[], ${drafts.map(matchValue)}::text[])
      with ordinality as u (tag_type, match_value, place)
    join tags t on t.org_id = ${orgId} and t.tag_type = u.tag_type and t.match_value = u.match_value`)
  return new Map(rows.map((row) => [keys[row.place - 1]!, { assetId: row.asset_id, locationId: row.location_id }]))
}

/** Where each antenna of these readers looks; a place deleted since is no place. */
export async function scanPointsOf(
  tx: Tx,
  orgId: number,
  readerIds: readonly number[],
): Promise<Map<string, number>> {
  const rows = await tx.query<{ reader_id: number; antenna: number; location_id: number }>(sql`
    select p.reader_id, p.antenna, p.location_id from scan_points p
    join locations l on l.org_id = ${orgId} and l.id = p.location_id and l.deleted_at is null
    where p.org_id = ${orgId} and p.reader_id = any(${readerIds}::bigint[])`)
  return new Map(rows.map((row) => [scanPointKey(row.reader_id, row.antenna), row.location_id]))
}

export const scanPointKey = (readerId: number, antenna: number): string => `${readerId} ${antenna}`
