import type { Db } from '../../db/database.ts'
import { type Sql, join, sql } from '../../db/sql.ts'
import { type Instant, fromDatabase, microsecondsBetween, toDatabase } from '../../kernel/instant.ts'
import { type MoveRow, type RecordedMove, columns, moveOf } from '../moves.sql.ts'
import { isThere } from '../report/large-subtree.sql.ts'
import { isFound, requestedLocations } from '../report/report-request.sql.ts'
import { isAtOrAfter, isAtOrBefore, isObservedWithin } from '../time-bounds.sql.ts'

export interface HistoryCursor {
  assetId: number
  minute: Instant
}

export interface HistoryLine extends HistoryCursor {
  assetKey: string
  assetName: string
  observedAt: Instant
  locationKey: string | null
  locationName: string | null
  durationSeconds: number | null
}

export interface HistoryFilter {
  assetIds?: readonly number[] | undefined
  from?: Instant | undefined
  to?: Instant | undefined
}

/**
 * The assets with a minute in the period, by id, found in the order of time; null when the period has at least `maxMinutes`
 * minutes.
 */
export async function assetsSeenWithin(
  db: Db,
  orgId: number,
  period: Pick<HistoryFilter, 'from' | 'to'>,
  maxMinutes: number,
): Promise<number[] | null> {
  const rows = await db.query<{ asset_id: number; minutes: number }>(sql`
    select seen.asset_id, count(*) as minutes from (
      select m.asset_id from asset_minutes m
      where m.org_id = ${orgId} and ${join(isObservedWithin(sql`m`, period), sql` and `)} limit ${maxMinutes}
    ) seen group by seen.asset_id order by seen.asset_id`)
  const isComplete = rows.reduce((sum, { minutes }) => sum + minutes, 0) < maxMinutes
  return isComplete ? rows.map((row) => row.asset_id) : null
}

/** The next minutes after the cursor, by asset and time. An extra lookup is needed only for the first minute of an asset. */
export async function historyBatch(
  db: Db,
  orgId: number,
  { assetIds, from, to }: HistoryFilter,
  after: HistoryCursor,
  limit: number,
): Promise<HistoryLine[]> {
  const conditions: Sql[] = [
    sql`m.org_id = ${orgId} and m.minute >= coalesce(p.history_from, '-infinity')`,
    sql`(m.asset_id, m.minute) > (${after.assetId}::bigint, ${toDatabase(after.minute)}::timestamptz)`,
  ]
  if (assetIds !== undefined) conditions.push(sql`m.asset_id = any(${assetIds}::bigint[])`)
  conditions.push(...isObservedWithin(sql`m`, { from, to }))
  const rows = await db.query<{
    asset_id: number
    minute: string
    observed_at: string
    asset_key: string
    asset_name: string
    location_key: string | null
    location_name: string | null
    earlier_at: string | null
  }>(sql`
    with page as (
      select m.asset_id, m.minute, m.observed_at, m.location_id, p.history_from, a.external_key, a.name
      from asset_minutes m
      join asset_positions p on p.org_id = ${orgId} and p.asset_id = m.asset_id
      join assets a on a.org_id = ${orgId} and a.id = m.asset_id and a.deleted_at is null
      where ${join(conditions, sql` and `)} order by m.asset_id, m.minute limit ${limit}
    ),
    with_previous as (
      select page.*, lag(page.observed_at) over (partition by page.asset_id order by page.minute) as before_at from page
    )
    select f.asset_id, f.minute, f.observed_at, f.external_key as asset_key, f.name as asset_name,
      l.external_key as location_key, l.name as location_name,
      coalesce(f.before_at, (
        select h.observed_at from asset_minutes h
        where h.org_id = ${orgId} and h.asset_id = f.asset_id and h.minute < f.minute
          and h.minute >= coalesce(f.history_from, '-infinity')
        order by h.minute desc limit 1
      )) as earlier_at
    from with_previous f left join locations l on l.org_id = ${orgId} and l.id = f.location_id and l.deleted_at is null
    order by f.asset_id, f.minute`)
  return rows.map((row) => {
    const observedAt = fromDatabase(row.observed_at)
    const earlierAt = row.earlier_at === null ? null : fromDatabase(row.earlier_at)
    return {
      assetId: row.asset_id,
      minute: fromDatabase(row.minute),
      observedAt,
      assetKey: row.asset_key,
      assetName: row.asset_name,
      locationKey: row.location_key,
      locationName: row.location_name,
      durationSeconds: earlierAt === null ? null : Math.floor(microsecondsBetween(earlierAt, observedAt) / 1e6),
    }
  })
}

export interface MoveCursor {
  occurredAt: Instant
  deliveryId: string
}

/** The next moves after the cursor, oldest first. */
export async function moveBatch(
  db: Db,
  orgId: number,
  { from, to }: { from?: Instant | undefined; to?: Instant | undefined },
  after: MoveCursor | null,
  limit: number,
): Promise<RecordedMove[]> {
  const conditions: Sql[] = [sql`org_id = ${orgId}`]
  if (after !== null)
    conditions.push(
      sql`(occurred_at, delivery_id) > (${toDatabase(after.occurredAt)}::timestamptz, ${after.deliveryId}::uuid)`,
    )
  if (from !== undefined) conditions.push(isAtOrAfter(sql`occurred_at`, from))
  if (to !== undefined) conditions.push(isAtOrBefore(sql`occurred_at`, to))
  const rows = await db.query<MoveRow>(sql`
    select ${columns} from moves where ${join(conditions, sql` and `)} order by occurred_at, delivery_id limit ${limit}`)
  return rows.map(moveOf)
}

export interface PositionLine {
  assetId: number
  assetKey: string
  assetName: string
  locationKey: string | null
  locationName: string | null
  /** Null when the asset had not been seen at the requested instant. */
  lastSeenAt: Instant | null
}

export interface PositionFilter {
  at?: Instant | undefined
  locationIds?: readonly number[] | undefined
  includeDescendants?: boolean | undefined
  /** A text in the key, the name or a tag of the asset. */
  q?: string | undefined
}

/**
 * The next scanned live assets after an id, with the location of each, now or at an instant. At an instant, an asset that was
 * not at one of the given locations has no last sighting, because only its history shows that.
 */
export async function positionBatch(
  db: Db,
  orgId: number,
  filter: PositionFilter,
  after: number,
  limit: number,
): Promise<PositionLine[]> {
  const { at, locationIds, q } = filter
  const isSelected = (locationId: Sql): Sql => (locationIds === undefined ? sql`true` : isThere(locationId))
  const here = locationIds === undefined ? sql`` : sql`here as materialized (${requestedLocations(orgId, filter)}),`
  // A text is found by its index. Otherwise the assets are looked up in the order of the positions, which `offset 0` forces.
  const assets = q
    ? sql`join assets a on a.org_id = ${orgId} and a.id = p.asset_id and a.deleted_at is null and ${isFound(q)}`
    : sql`cross join lateral (
        select a.external_key, a.name from assets a
        where a.org_id = ${orgId} and a.id = p.asset_id and a.deleted_at is null offset 0
      ) a`
  const seen =
    at === undefined
      ? sql`select page.location_id, page.last_seen_at`
      : sql`select s.* from (
          select h.location_id, h.observed_at as last_seen_at from asset_minutes h
          where h.org_id = ${orgId} and h.asset_id = page.asset_id and h.minute >= coalesce(page.history_from, '-infinity')
            and ${join(isObservedWithin(sql`h`, { to: at }), sql` and `)}
          order by h.minute desc limit 1
        ) s where ${isSelected(sql`s.location_id`)}`
  const rows = await db.query<{
    asset_id: number
    asset_key: string
    asset_name: string
    location_key: string | null
    location_name: string | null
    last_seen_at: string | null
  }>(sql`
    with ${here}
    page as (
      select p.asset_id, p.location_id, p.last_seen_at, p.history_from, a.external_key, a.name
      from asset_positions p ${assets}
      where p.org_id = ${orgId} and p.asset_id > ${after}
        and ${at === undefined ? isSelected(sql`p.location_id`) : sql`true`}
      order by p.asset_id limit ${limit}
    )
    select page.asset_id, page.external_key as asset_key, page.name as asset_name, l.external_key as location_key,
      l.name as location_name, seen.last_seen_at
    from page left join lateral (${seen}) seen on true
    left join locations l on l.org_id = ${orgId} and l.id = seen.location_id and l.deleted_at is null
    order by page.asset_id`)
  return rows.map((row) => ({
    assetId: row.asset_id,
    assetKey: row.asset_key,
    assetName: row.asset_name,
    locationKey: row.location_key,
    locationName: row.location_name,
    lastSeenAt: row.last_seen_at === null ? null : fromDatabase(row.last_seen_at),
  }))
}
