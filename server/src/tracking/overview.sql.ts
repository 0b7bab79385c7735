import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'

export interface Totals {
  assets: number
  seen: number
  quiet: number
}

/** Booked totals, and the scanned assets that nobody has seen since. Deleted ones, which are few, are taken off again. */
export async function countTotals(db: Db, orgId: number, quietSince: Instant): Promise<Totals> {
  const since = toDatabase(quietSince)
  const [row] = await db.query<Totals>(sql`
    select
      (select coalesce(sum(active + inactive), 0)::bigint from record_counts
        where org_id = ${orgId} and kind = 'asset') as assets,
      (select coalesce(sum(active), 0)::bigint from record_counts
        where org_id = ${orgId} and kind = 'position') as seen,
      (select count(*) from asset_positions p where p.org_id = ${orgId} and p.last_seen_at < ${since})
      - (select count(*) from assets a join asset_positions p on p.org_id = ${orgId} and p.asset_id = a.id
        where a.org_id = ${orgId} and a.deleted_at is not null and p.last_seen_at < ${since}) as quiet`)
  return row!
}

export interface LocationCount {
  locationId: number
  parentId: number | null
  name: string
  externalKey: string
  here: number
}

/** Every live location with what is in it, by key. */
export async function countLocations(db: Db, orgId: number): Promise<LocationCount[]> {
  const rows = await db.query<{
    id: number
    parent_id: number | null
    name: string
    external_key: string
    here: number
  }>(sql`
    with placed as (
      select p.location_id, count(*) as placed from asset_positions p
      where p.org_id = ${orgId} and p.location_id is not null group by p.location_id
    ),
    gone as (
      select p.location_id, count(*) as gone from assets a
      join asset_positions p on p.org_id = ${orgId} and p.asset_id = a.id
      where a.org_id = ${orgId} and a.deleted_at is not null group by p.location_id
    )
    select l.id, l.parent_id, l.name, l.external_key, coalesce(placed.placed, 0) - coalesce(gone.gone, 0) as here
    from locations l left join placed on placed.location_id = l.id left join gone on gone.location_id = l.id
    where l.org_id = ${orgId} and l.deleted_at is null order by l.external_key`)
  return rows.map((row) => ({
    locationId: row.id,
    parentId: row.parent_id,
    name: row.name,
    externalKey: row.external_key,
    here: row.here,
  }))
}

export interface HourCount {
  hour: Instant
  moves: number
}

/** Moves in each hour from one on; hours without any are left out. */
export async function countMovesPerHour(db: Db, orgId: number, since: Instant): Promise<HourCount[]> {
  const rows = await db.query<{ hour: string; moves: number }>(sql`
    select date_trunc('hour', m.occurred_at, 'UTC') as hour, count(*) as moves from moves m
    where m.org_id = ${orgId} and m.occurred_at >= ${toDatabase(since)} group by 1 order by 1`)
  return rows.map((row) => ({ hour: fromDatabase(row.hour), moves: row.moves }))
}
