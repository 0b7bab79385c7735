import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../../kernel/instant.ts'

export interface Totals {
  assets: number
  seen: number
  unseen: number
}

/** Totals from the counters, and the assets not seen since an instant. The few deleted assets are subtracted. */
export async function countTotals(db: Db, orgId: number, unseenSince: Instant): Promise<Totals> {
  const since = toDatabase(unseenSince)
  const [row] = await db.query<Totals>(sql`
    select
      (select coalesce(sum(active + inactive), 0)::bigint from record_counts
        where org_id = ${orgId} and kind = 'asset') as assets,
      (select coalesce(sum(active), 0)::bigint from record_counts
        where org_id = ${orgId} and kind = 'position') as seen,
      (select count(*) from asset_positions p where p.org_id = ${orgId} and p.last_seen_at < ${since})
      - (select count(*) from assets a join asset_positions p on p.org_id = ${orgId} and p.asset_id = a.id
        where a.org_id = ${orgId} and a.deleted_at is not null and p.last_seen_at < ${since}) as unseen`)
  return row!
}

export interface LocationCount {
  locationId: number
  parentId: number | null
  name: string
  externalKey: string
  here: number
}

/** The number of assets at each live location, ordered by key. */
export async function countLocations(db: Db, orgId: number): Promise<LocationCount[]> {
  const rows = await db.query<{
    id: number
    parent_id: number | null
    name: string
    external_key: string
    here: number
  }>(sql`
    with positions as (
      select p.location_id, count(*) as count from asset_positions p
      where p.org_id = ${orgId} and p.location_id is not null group by p.location_id
    ),
    deleted as (
      select p.location_id, count(*) as count from assets a
      join asset_positions p on p.org_id = ${orgId} and p.asset_id = a.id
      where a.org_id = ${orgId} and a.deleted_at is not null group by p.location_id
    )
    select l.id, l.parent_id, l.name, l.external_key, coalesce(positions.count, 0) - coalesce(deleted.count, 0) as here
    from locations l
    left join positions on positions.location_id = l.id
    left join deleted on deleted.location_id = l.id
    where l.org_id = ${orgId} and l.deleted_at is null order by l.external_key`)
  return rows.map((row) => ({
    locationId: row.id,
    parentId: row.parent_id,
    name: row.name,
    externalKey: row.external_key,
    here: row.here,
  }))
}

export interface MoveCount {
  at: Instant
  moves: number
}

/**
 * The number of moves per quarter of an hour since an instant; quarters without moves are omitted. All time zones differ
 * from UTC by quarters of an hour, so a client can add the quarters up to hours or days of any time zone.
 */
export async function countMoves(db: Db, orgId: number, since: Instant): Promise<MoveCount[]> {
  const rows = await db.query<{ at: string; moves: number }>(sql`
    select date_bin('15 minutes', m.occurred_at, timestamptz '2000-01-01 00:00:00+00') as at, count(*) as moves from moves m
    where m.org_id = ${orgId} and m.occurred_at >= ${toDatabase(since)} group by 1 order by 1`)
  return rows.map((row) => ({ at: fromDatabase(row.at), moves: row.moves }))
}
