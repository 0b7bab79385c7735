import type { Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { fromDatabase, toDatabase } from '../kernel/instant.ts'
import { bookScanned } from '../records/counts.sql.ts'
import { type Sighting, type Whereabouts, minuteOf } from './sighting.ts'

/** What a batch brings for one asset: its latest sighting, and how many minutes were added to its history. */
export interface Advance {
  latest: Sighting
  addedMinutes: number
}

/** A reader moves an asset on only with a later minute; an operator also within the minute. */
const isLater: Record<'reader' | 'operator', Sql> = {
  reader: sql`excluded.last_minute > coalesce(held.last_minute, '-infinity')`,
  operator: sql`excluded.last_minute >= coalesce(held.last_minute, '-infinity')`,
}

/**
 * Brings positions up to date and tells what each was before, null for an asset never seen until now. The row's lock
 * makes every change follow the one before, so a move is detected once however many batches come at the same time.
 */
export async function advancePositions(
  tx: Tx,
  orgId: number,
  advances: readonly Advance[],
  source: 'reader' | 'operator',
): Promise<Map<number, Whereabouts | null>> {
  const later = isLater[source]
  const rows = await tx.query<{
    asset_id: number
    previous_location_id: number | null
    previous_minute: string | null
  }>(sql`
    insert into asset_positions as held (org_id, asset_id, location_id, last_seen_at, last_minute, minutes)
    select o.org_id, u.asset_id, u.location_id, u.observed_at, u.minute, u.added
    from organizations o cross join unnest(
      ${advances.map((one) => one.latest.assetId)}::bigint[],
      ${advances.map((one) => one.latest.locationId)}::bigint[],
      ${advances.map((one) => toDatabase(one.latest.observedAt))}::timestamptz[],
      ${advances.map((one) => toDatabase(minuteOf(one.latest.observedAt)))}::timestamptz[],
      ${advances.map((one) => one.addedMinutes)}::bigint[]
    ) u (asset_id, location_id, observed_at, minute, added)
    where o.org_id = ${orgId}
    order by u.asset_id
    on conflict (org_id, asset_id) do update set
      previous_location_id = held.location_id,
      previous_minute = held.last_minute,
      location_id = case when ${later} then excluded.location_id else held.location_id end,
      last_seen_at = case when ${later} then excluded.last_seen_at else held.last_seen_at end,
      last_minute = greatest(held.last_minute, excluded.last_minute),
      minutes = held.minutes + excluded.minutes
    returning asset_id, previous_location_id, previous_minute`)
  const before = new Map<number, Whereabouts | null>()
  for (const row of rows) {
    const minute = row.previous_minute === null ? null : fromDatabase(row.previous_minute)
    before.set(row.asset_id, minute === null ? null : { locationId: row.previous_location_id, minute })
  }
  await bookFirstSeen(
    tx,
    orgId,
    [...before].filter(([, previous]) => previous === null).map(([assetId]) => assetId),
  )
  return before
}

/** Totals of the report: an asset deleted at this very moment is booked as what it then is. */
async function bookFirstSeen(tx: Tx, orgId: number, assetIds: readonly number[]): Promise<void> {
  if (assetIds.length === 0) return
  const live = await tx.query(sql`
    select id from assets
    where org_id = ${orgId} and id = any(${assetIds.toSorted((a, b) => a - b)}::bigint[]) and deleted_at is null
    order by id for share`)
  await bookScanned(tx, orgId, { live: live.length, deleted: assetIds.length - live.length })
}

/** Where each asset that was ever seen is, and since which minute nothing newer is known. */
export async function whereaboutsOf(
  tx: Tx,
  orgId: number,
  assetIds: readonly number[],
): Promise<Map<number, Whereabouts>> {
  const rows = await tx.query<{ asset_id: number; location_id: number | null; last_minute: string | null }>(sql`
    select asset_id, location_id, last_minute from asset_positions
    where org_id = ${orgId} and asset_id = any(${assetIds}::bigint[])`)
  return new Map(
    rows.flatMap(({ asset_id, location_id, last_minute }) =>
      last_minute === null ? [] : [[asset_id, { locationId: location_id, minute: fromDatabase(last_minute) }] as const],
    ),
  )
}

/** The last minute of each asset that was ever seen. */
export async function lastMinutesOf(tx: Tx, orgId: number, assetIds: readonly number[]): Promise<Map<number, string>> {
  const rows = await tx.query<{ asset_id: number; last_minute: string | null }>(sql`
    select asset_id, last_minute from asset_positions
    where org_id = ${orgId} and asset_id = any(${assetIds}::bigint[])`)
  return new Map(rows.flatMap((row) => (row.last_minute === null ? [] : [[row.asset_id, row.last_minute] as const])))
}
