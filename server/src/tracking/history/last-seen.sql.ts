import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { type Instant, fromDatabase } from '../../kernel/instant.ts'

/** Where and when an asset was last seen. A deleted location counts as none. */
export interface LastSeen {
  locationId: number | null
  locationName: string | null
  lastSeenAt: Instant
}

/** Where these assets were last seen, by asset id; assets that were never seen are absent. */
export async function lastSeenOf(db: Db, orgId: number, assetIds: readonly number[]): Promise<Map<number, LastSeen>> {
  if (assetIds.length === 0) return new Map()
  const rows = await db.query<{ asset_id: number; id: number | null; name: string | null; last_seen_at: string }>(sql`
    select p.asset_id, l.id, l.name, p.last_seen_at from asset_positions p
    left join locations l on l.org_id = ${orgId} and l.id = p.location_id and l.deleted_at is null
    where p.org_id = ${orgId} and p.asset_id = any(${assetIds}::bigint[])`)
  return new Map(
    rows.map((row) => [
      row.asset_id,
      { locationId: row.id, locationName: row.name, lastSeenAt: fromDatabase(row.last_seen_at) },
    ]),
  )
}
