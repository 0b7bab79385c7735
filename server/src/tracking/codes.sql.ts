import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase } from '../kernel/instant.ts'
import { type TagDraft, normalizedValue } from '../tags/tag.ts'

/** The asset or location that a scanned code identifies. */
export interface Resolved {
  code: string
  kind: 'asset' | 'location' | null
  id: number | null
  externalKey: string | null
  name: string | null
  locationId: number | null
  locationName: string | null
  lastSeenAt: Instant | null
}

interface CodeRow {
  position: number
  asset_id: number | null
  asset_key: string
  asset_name: string
  location_id: number | null
  location_key: string
  location_name: string
  current_location_id: number | null
  current_location_name: string | null
  last_seen_at: string | null
}

/**
 * Resolves each code as the value of a tag of any type, then as the key of an asset, then as the key of a location. The
 * results are in the order of the codes.
 */
export async function resolveCodes(db: Db, orgId: number, codes: readonly string[]): Promise<Resolved[]> {
  const rows = await db.query<CodeRow>(sql`
    with codes as (
      select * from unnest(${codes}::text[], ${codes.map((value) => normalizedValue({ type: 'rfid', value }))}::text[],
        ${codes.map((value) => normalizedValue({ type: 'ble', value }))}::text[])
        with ordinality as u (code, rfid, ble, position)
    ),
    tagged as (
      select distinct on (g.position) g.position, t.asset_id, t.location_id from codes g
      join tags t on t.org_id = ${orgId} and (t.tag_type, t.normalized_value) in
        (('barcode', g.code), ('rfid', g.rfid), ('ble', g.ble))
      order by g.position, t.tag_type
    ),
    found as (
      select g.position, coalesce(tagged.asset_id, case when tagged.position is null then k.id end) as asset_id,
        coalesce(tagged.location_id, case when tagged.position is null and k.id is null then n.id end) as location_id
      from codes g left join tagged on tagged.position = g.position
      left join assets k on k.org_id = ${orgId} and k.external_key = g.code and k.deleted_at is null
      left join locations n on n.org_id = ${orgId} and n.external_key = g.code and n.deleted_at is null
    )
    select found.position, a.id as asset_id, a.external_key as asset_key, a.name as asset_name,
      l.id as location_id, l.external_key as location_key, l.name as location_name,
      c.id as current_location_id, c.name as current_location_name, p.last_seen_at
    from found left join assets a on a.org_id = ${orgId} and a.id = found.asset_id
    left join locations l on l.org_id = ${orgId} and l.id = found.location_id
    left join asset_positions p on p.org_id = ${orgId} and p.asset_id = a.id
    left join locations c on c.org_id = ${orgId} and c.id = p.location_id and c.deleted_at is null
    order by found.position`)
  return rows.map((row) => resolvedOf(codes[row.position - 1]!, row))
}

function resolvedOf(code: string, row: CodeRow): Resolved {
  const noPosition = { locationId: null, locationName: null, lastSeenAt: null }
  if (row.asset_id !== null) {
    const lastSeenAt = row.last_seen_at === null ? null : fromDatabase(row.last_seen_at)
    const asset = { id: row.asset_id, externalKey: row.asset_key, name: row.asset_name }
    return {
      code,
      kind: 'asset',
      ...asset,
      locationId: row.current_location_id,
      locationName: row.current_location_name,
      lastSeenAt,
    }
  }
  if (row.location_id !== null)
    return {
      code,
      kind: 'location',
      id: row.location_id,
      externalKey: row.location_key,
      name: row.location_name,
      ...noPosition,
    }
  return { code, kind: null, id: null, externalKey: null, name: null, ...noPosition }
}

/** The record that a tag is attached to. */
export interface CodeOwner {
  kind: 'asset' | 'location'
  id: number
  name: string
}

/** The records that the tags are attached to, by the keys of the map. */
export async function codeOwnersOf(
  db: Db,
  orgId: number,
  tags: ReadonlyMap<string, TagDraft>,
): Promise<Map<string, CodeOwner>> {
  if (tags.size === 0) return new Map()
  const keys = [...tags.keys()]
  const drafts = [...tags.values()]
  const rows = await db.query<{ position: number; kind: CodeOwner['kind']; id: number; name: string }>(sql`
    select u.position, case when a.id is null then 'location' else 'asset' end as kind, coalesce(a.id, l.id) as id,
      coalesce(a.name, l.name) as name
    from unnest(${drafts.map((tag) => tag.type)}::text[], ${drafts.map(normalizedValue)}::text[])
      with ordinality as u (tag_type, normalized_value, position)
    join tags t on t.org_id = ${orgId} and t.tag_type = u.tag_type and t.normalized_value = u.normalized_value
    left join assets a on a.org_id = ${orgId} and a.id = t.asset_id
    left join locations l on l.org_id = ${orgId} and l.id = t.location_id`)
  return new Map(rows.map(({ position, ...owner }) => [keys[position - 1]!, owner]))
}
