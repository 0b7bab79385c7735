import type { Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Instant } from '../../kernel/instant.ts'
import type { RecentSighting } from './smoothing.ts'

const parse = (text: string): RecentSighting[] =>
  (JSON.parse(text) as [Instant, number | null, number | null][]).map(([observedAt, locationId, rssiDbm]) => ({
    observedAt,
    locationId,
    rssiDbm,
  }))

const stringify = (sightings: readonly RecentSighting[]): string =>
  JSON.stringify(sightings.map(({ observedAt, locationId, rssiDbm }) => [observedAt, locationId, rssiDbm]))

/** The recent sightings of each asset, locked until the end of the transaction. */
export async function lockRecentSightings(
  tx: Tx,
  orgId: number,
  assetIds: readonly number[],
): Promise<Map<number, RecentSighting[]>> {
  const rows = await tx.query<{ asset_id: number; seen: string }>(sql`
    insert into recent_sightings as stored (org_id, asset_id, seen)
    select o.org_id, u.id, '[]'
    from organizations o cross join unnest(${assetIds}::bigint[]) u (id) where o.org_id = ${orgId} order by u.id
    on conflict (org_id, asset_id) do update set seen = stored.seen
    returning asset_id, seen`)
  return new Map(rows.map((row) => [row.asset_id, parse(row.seen)]))
}

export async function putRecentSightings(
  tx: Tx,
  orgId: number,
  sightings: ReadonlyMap<number, readonly RecentSighting[]>,
): Promise<void> {
  const seen = [...sightings.values()].map(stringify)
  await tx.query(sql`
    update recent_sightings g set seen = u.seen
    from unnest(${[...sightings.keys()]}::bigint[], ${seen}::text[]) u (id, seen)
    where g.org_id = ${orgId} and g.asset_id = u.id`)
}
