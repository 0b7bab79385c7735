import type { Db } from '../../db/database.ts'
import { paginate } from '../../db/plan-cache.ts'
import { type Sql, join, sql } from '../../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../../kernel/instant.ts'
import { type Page, type PageRequest, toPage } from '../../kernel/page.ts'
import { isThere } from '../report/large-subtree.sql.ts'
import { requestedLocations } from '../report/report-request.sql.ts'
import { isAtOrAfter, isAtOrBefore } from '../time-bounds.sql.ts'

/** An asset arrived at a location or left it for another one. */
export interface LocationEvent {
  event: 'arrival' | 'departure'
  occurredAt: Instant
  assetId: number
  assetKey: string
  /** The location where the asset arrived or from which it left: the requested one or, on request, one below it. */
  locationId: number
  locationName: string
  /** The location that the asset came from or went to. */
  otherId: number | null
  otherName: string | null
}

export interface LocationEventsRequest extends PageRequest {
  /** The location and all below it count as one: moves between them are neither arrivals nor departures. */
  includeDescendants?: boolean | undefined
  from?: Instant | undefined
  to?: Instant | undefined
}

interface LocationEventRow {
  total: number
  event: LocationEvent['event'] | null
  occurred_at: string
  asset_id: number
  asset_external_key: string
  location_id: number
  location_name: string
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

const arrivalColumns = sql`'arrival' as event, m.occurred_at, m.delivery_id, m.asset_id, m.asset_external_key,
  m.to_location_id as location_id, m.to_location_name as location_name,
  m.from_location_id as other_id, m.from_location_name as other_name`

const departureColumns = sql`'departure' as event, m.occurred_at, m.delivery_id, m.asset_id, m.asset_external_key,
  m.from_location_id as location_id, m.from_location_name as location_name,
  m.to_location_id as other_id, m.to_location_name as other_name`

/** The total and the page of one location. Each side is read in order and contributes its own first rows. */
function eventsOfLocation(orgId: number, locationId: number, where: Sql, request: LocationEventsRequest): Sql {
  const newest = (columns: Sql, side: Sql): Sql => {
    const ordered = sql`select ${columns} from moves m
      where ${where} and ${side} = ${locationId} order by m.occurred_at desc, m.delivery_id`
    return paginate(ordered, { limit: Math.min(request.limit + request.offset, Number.MAX_SAFE_INTEGER), offset: 0 })
  }
  const arrivals = newest(arrivalColumns, sql`m.to_location_id`)
  const departures = newest(departureColumns, sql`m.from_location_id`)
  const events = sql`select * from ((${arrivals}) union all (${departures})) events order by occurred_at desc, delivery_id`
  return sql`
    with total as (select ${countedTotal(orgId, locationId, request)} as total),
    page as (${paginate(events, request)})`
}

/**
 * The total and the page of a location and all below it. `offset 0` makes the planner read the moves of each location by its
 * index; otherwise it expects a thousand locations and reads all moves.
 */
function eventsOfSubtree(orgId: number, locationId: number, where: Sql, request: LocationEventsRequest): Sql {
  return sql`
    with here as materialized (${requestedLocations(orgId, { locationIds: [locationId], includeDescendants: true })}),
    events as materialized (
      select e.* from here cross join lateral (
        select ${arrivalColumns} from moves m where ${where} and m.to_location_id = here.id offset 0
      ) e where not exists (select from here h where h.id = e.other_id)
      union all
      select e.* from here cross join lateral (
        select ${departureColumns} from moves m where ${where} and m.from_location_id = here.id offset 0
      ) e where not exists (select from here h where h.id = e.other_id)
    ),
    total as (select count(*) as total from events),
    page as (${paginate(sql`select * from events order by occurred_at desc, delivery_id`, request)})`
}

/**
 * The total and the page of a location and all below it that take part in many of the moves. Every move is tested in the
 * order of time: moves within the subtree are in no index, so to find the others by location would read most moves, and the
 * page would have to sort them.
 */
function eventsOfLargeSubtree(orgId: number, locationId: number, where: Sql, request: LocationEventsRequest): Sql {
  const isArrival = isThere(sql`m.to_location_id`)
  const isEvent = sql`${isArrival} <> ${isThere(sql`m.from_location_id`)}`
  const eitherOf = (arrival: Sql, departure: Sql): Sql =>
    sql`case when m.is_arrival then ${arrival} else ${departure} end`
  const [to, from] = [
    { id: sql`m.to_location_id`, name: sql`m.to_location_name` },
    { id: sql`m.from_location_id`, name: sql`m.from_location_name` },
  ] as const
  const newest = sql`
    select m.*, ${isArrival} as is_arrival from moves m where ${where} and ${isEvent}
    order by m.occurred_at desc, m.delivery_id`
  return sql`
    with here as materialized (${requestedLocations(orgId, { locationIds: [locationId], includeDescendants: true })}),
    total as (select count(*) as total from moves m where ${where} and ${isEvent}),
    page as (
      select ${eitherOf(sql`'arrival'`, sql`'departure'`)} as event, m.occurred_at, m.delivery_id, m.asset_id,
        m.asset_external_key, ${eitherOf(to.id, from.id)} as location_id, ${eitherOf(to.name, from.name)} as location_name,
        ${eitherOf(from.id, to.id)} as other_id, ${eitherOf(from.name, to.name)} as other_name
      from (${paginate(newest, request)}) m
    )`
}

/** This many of the newest moves show how many moves a subtree takes part in. */
const sampledMoves = 1000

/**
 * Whether at least a tenth of all locations are in the subtree of the location, and it takes part in at least a tenth of the
 * newest moves.
 */
async function isLarge(db: Db, orgId: number, locationId: number, where: Sql, maxMoves: number): Promise<boolean> {
  const rows = await db.query(sql`
    with here as materialized (${requestedLocations(orgId, { locationIds: [locationId], includeDescendants: true })}),
    newest as materialized (
      select m.to_location_id, m.from_location_id from moves m where ${where} order by m.occurred_at desc limit ${maxMoves}
    )
    select where (select count(*) from newest) = ${maxMoves}
      and 10 * (select count(*) from here) >= (
        select coalesce(sum(active + inactive), 0) from record_counts where org_id = ${orgId} and kind = 'location'
      )
      and 10 * (
        select count(*) from newest m where ${isThere(sql`m.to_location_id`)} or ${isThere(sql`m.from_location_id`)}
      ) >= ${maxMoves}`)
  return rows.length > 0
}

async function hasChildren(db: Db, orgId: number, id: number): Promise<boolean> {
  const rows = await db.query(sql`
    select from locations l where l.org_id = ${orgId} and l.parent_id = ${id} and l.deleted_at is null limit 1`)
  return rows.length > 0
}

/** Arrivals and departures, newest first. */
export async function listLocationEvents(
  db: Db,
  orgId: number,
  locationId: number,
  request: LocationEventsRequest,
  maxMoves = sampledMoves,
): Promise<Page<LocationEvent>> {
  const bounds: Sql[] = [sql`m.org_id = ${orgId}`]
  if (request.from !== undefined) bounds.push(isAtOrAfter(sql`m.occurred_at`, request.from))
  if (request.to !== undefined) bounds.push(isAtOrBefore(sql`m.occurred_at`, request.to))
  const isSubtree = request.includeDescendants === true && (await hasChildren(db, orgId, locationId))
  const where = join(bounds, sql` and `)
  const eventsOf = !isSubtree
    ? eventsOfLocation
    : (await isLarge(db, orgId, locationId, where, maxMoves))
      ? eventsOfLargeSubtree
      : eventsOfSubtree
  const rows = await db.query<LocationEventRow>(sql`
    ${eventsOf(orgId, locationId, where, request)}
    select total.total, page.* from total left join page on true order by page.occurred_at desc, page.delivery_id`)
  return toPage(rows, (row) => (row.event === null ? null : locationEventOf(row, row.event)))
}

const locationEventOf = (row: LocationEventRow, event: LocationEvent['event']): LocationEvent => ({
  event,
  occurredAt: fromDatabase(row.occurred_at),
  assetId: row.asset_id,
  assetKey: row.asset_external_key,
  locationId: row.location_id,
  locationName: row.location_name,
  otherId: row.other_id,
  otherName: row.other_name,
})
