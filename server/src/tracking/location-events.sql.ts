import type { Db } from '../db/database.ts'
import { paginate } from '../db/plan-cache.ts'
import { type Sql, join, sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import { isAtOrAfter, isAtOrBefore } from './time-bounds.sql.ts'

/** An asset arrived at a location or left it for another one. */
export interface LocationEvent {
  event: 'arrival' | 'departure'
  occurredAt: Instant
  assetId: number
  assetKey: string
  /** The location that the asset came from or went to. */
  otherId: number | null
  otherName: string | null
}

export interface LocationEventsRequest extends PageRequest {
  from?: Instant | undefined
  to?: Instant | undefined
}

interface LocationEventRow {
  total: number
  event: LocationEvent['event'] | null
  occurred_at: string
  asset_id: number
  asset_external_key: string
  other_id: number | null
  other_name: string | null
}

const hourOf = (instant: Instant): Instant => `${instant.slice(0, 13)}:00:00.000000Z` as Instant

/**
 * The total: whole hours are counted by the counters, the rest of the first and of the last hour by the moves. Within one
 * hour, only the moves are counted.
 */
function countedTotal(orgId: number, locationId: number, { from, to }: LocationEventsRequest): Sql {
  const countMoves = (bounds: Sql): Sql => sql`
    (select count(*) from moves m where m.org_id = ${orgId} and m.to_location_id = ${locationId} and ${bounds})
    + (select count(*) from moves m where m.org_id = ${orgId} and m.from_location_id = ${locationId} and ${bounds})`
  const occurredAt = sql`m.occurred_at`
  if (from !== undefined && to !== undefined && hourOf(from) >= hourOf(to))
    return countMoves(sql`${isAtOrAfter(occurredAt, from)} and ${isAtOrBefore(occurredAt, to)}`)
  const hours = [sql`org_id = ${orgId} and location_id = ${locationId}`]
  const counts: Sql[] = []
  if (from !== undefined) {
    const hour = sql`${toDatabase(hourOf(from))}::timestamptz`
    hours.push(sql`hour > ${hour}`)
    counts.push(countMoves(sql`${isAtOrAfter(occurredAt, from)} and m.occurred_at < ${hour} + interval '1 hour'`))
  }
  if (to !== undefined) {
    const hour = sql`${toDatabase(hourOf(to))}::timestamptz`
    hours.push(sql`hour < ${hour}`)
    counts.push(countMoves(sql`m.occurred_at >= ${hour} and ${isAtOrBefore(occurredAt, to)}`))
  }
  counts.push(sql`(
    select coalesce(sum(arrivals + departures), 0)::bigint from location_move_counts where ${join(hours, sql` and `)})`)
  return join(counts, sql` + `)
}

/** Arrivals and departures, newest first. Each side is read in order and contributes its own first rows. */
export async function listLocationEvents(
  db: Db,
  orgId: number,
  locationId: number,
  request: LocationEventsRequest,
): Promise<Page<LocationEvent>> {
  const bounds: Sql[] = [sql`m.org_id = ${orgId}`]
  if (request.from !== undefined) bounds.push(isAtOrAfter(sql`m.occurred_at`, request.from))
  if (request.to !== undefined) bounds.push(isAtOrBefore(sql`m.occurred_at`, request.to))
  const where = join(bounds, sql` and `)
  const newest = (columns: Sql, side: Sql): Sql => {
    const ordered = sql`
      select ${columns}, m.occurred_at, m.delivery_id, m.asset_id, m.asset_external_key from moves m
      where ${where} and ${side} = ${locationId} order by m.occurred_at desc, m.delivery_id`
    return paginate(ordered, { limit: Math.min(request.limit + request.offset, Number.MAX_SAFE_INTEGER), offset: 0 })
  }
  const arrivals = newest(
    sql`'arrival' as event, m.from_location_id as other_id, m.from_location_name as other_name`,
    sql`m.to_location_id`,
  )
  const departures = newest(
    sql`'departure' as event, m.to_location_id as other_id, m.to_location_name as other_name`,
    sql`m.from_location_id`,
  )
  const events = sql`select * from ((${arrivals}) union all (${departures})) events order by occurred_at desc, delivery_id`
  const rows = await db.query<LocationEventRow>(sql`
    with total as (select ${countedTotal(orgId, locationId, request)} as total),
    page as (${paginate(events, request)})
    select total.total, page.* from total left join page on true order by page.occurred_at desc, page.delivery_id`)
  return {
    rows: rows.flatMap((row) => (row.event === null ? [] : [locationEventOf(row, row.event)])),
    total: rows[0]?.total ?? 0,
  }
}

const locationEventOf = (row: LocationEventRow, event: LocationEvent['event']): LocationEvent => ({
  event,
  occurredAt: fromDatabase(row.occurred_at),
  assetId: row.asset_id,
  assetKey: row.asset_external_key,
  otherId: row.other_id,
  otherName: row.other_name,
})
