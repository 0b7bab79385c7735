import type { Db } from '../db/database.ts'
import { paginate } from '../db/plan-cache.ts'
import { type Sql, join, sql } from '../db/sql.ts'
import { type Instant, fromDatabase } from '../kernel/instant.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import { requestedLocations } from './report.sql.ts'
import { isAtOrAfter, isAtOrBefore } from './time-bounds.sql.ts'

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

/** Arrivals and departures, newest first. */
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
  const { includeDescendants } = request
  const locations = requestedLocations(orgId, { locationIds: [locationId], includeDescendants })
  const rows = await db.query<LocationEventRow>(sql`
    with here as materialized (${locations}),
    events as materialized (
      select 'arrival' as event, m.occurred_at, m.delivery_id, m.asset_id, m.asset_external_key,
        m.to_location_id as location_id, m.to_location_name as location_name,
        m.from_location_id as other_id, m.from_location_name as other_name
      from here join moves m on m.to_location_id = here.id
      where ${where} and not exists (select from here h where h.id = m.from_location_id)
      union all
      select 'departure', m.occurred_at, m.delivery_id, m.asset_id, m.asset_external_key,
        m.from_location_id, m.from_location_name, m.to_location_id, m.to_location_name
      from here join moves m on m.from_location_id = here.id
      where ${where} and not exists (select from here h where h.id = m.to_location_id)
    ),
    total as (select count(*) as total from events),
    page as (${paginate(sql`select * from events order by occurred_at desc, delivery_id`, request)})
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
  locationId: row.location_id,
  locationName: row.location_name,
  otherId: row.other_id,
  otherName: row.other_name,
})
