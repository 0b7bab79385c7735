import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Smoothing } from '../readers/reader.ts'
import { smoothingOf } from '../readers/readers.sql.ts'
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

export interface Viewpoints {
  smoothing: Smoothing | null
  /** Antenna → location. */
  places: Map<number, number>
}

/** Where each antenna of these readers looks. A place deleted since is no place, and a reader deleted since is left out. */
export async function viewpointsOf(
  tx: Tx,
  orgId: number,
  readerIds: readonly number[],
): Promise<Map<number, Viewpoints>> {
  const rows = await tx.query<{
    reader_id: number
    smoothing: string | null
    antenna: number | null
    location_id: number | null
  }>(sql`
    select r.id as reader_id, r.smoothing, p.antenna, l.id as location_id from readers r
    left join scan_points p on p.org_id = ${orgId} and p.reader_id = r.id
    left join locations l on l.org_id = ${orgId} and l.id = p.location_id and l.deleted_at is null
    where r.org_id = ${orgId} and r.id = any(${readerIds}::bigint[])`)
  const readers = new Map<number, Viewpoints>()
  for (const { reader_id, smoothing, antenna, location_id } of rows) {
    const reader = readers.get(reader_id) ?? { smoothing: smoothingOf(smoothing), places: new Map<number, number>() }
    readers.set(reader_id, reader)
    if (antenna !== null && location_id !== null) reader.places.set(antenna, location_id)
  }
  return readers
}
