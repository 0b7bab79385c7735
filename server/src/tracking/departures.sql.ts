/**
 * The assets that were at a location at a past instant, without evaluating every asset.
 *
 * The position of an asset at an instant is the latest minute of its history whose observation is not after it. Assets at a
 * location are found among the candidates: those that are there now, and those that left it in the minute of the instant or
 * later, according to `moves` and `departures_without_move`. The history of each candidate then decides, so it is enough that
 * no asset is missing among the candidates:
 *
 * - Let p be the last minute of the stay at the location that includes the instant. If no minute follows, the asset is there
 *   now, because the position follows the latest minute.
 * - Otherwise let q be the next minute, with another location or none. It is observed after the instant, so it is not before
 *   the minute of the instant. The pair is complete when the later of the two is recorded, and the lock on the position orders
 *   what is recorded for an asset. If that was q, at the end of the history, the location before it was that of p: there is a
 *   move from p's location within q's minute or, if q has no location or p has none, a departure without a move. If it was
 *   p or q before the last known minute, `add_late_departures` compared it with the minutes before and after it.
 * - An operator overrides only the latest minute of an asset. A minute that is overridden a second time moves the asset from
 *   the second location, not from p's. The first departure remains in the same minute, which is why the whole minute of the
 *   instant counts.
 * - A move names no origin that was deleted meanwhile. Such a departure is stored without a move, too.
 * - Retention deletes the oldest moves, and a database may be older than `departures_without_move`. So departures count as
 *   complete only from `organizations.departures_from` on; before, every asset is evaluated.
 */
import type { Db } from '../db/database.ts'
import { type Sql, join, sql } from '../db/sql.ts'
import { type Instant, toDatabase } from '../kernel/instant.ts'
import { minuteOf } from './sighting.ts'

const minute = (at: Instant): Sql => sql`${toDatabase(minuteOf(at))}::timestamptz`

/** Whether departures after the instant are complete. */
export async function hasDeparturesSince(db: Db, orgId: number, at: Instant): Promise<boolean> {
  const rows = await db.query(sql`
    select from organizations o
    where o.org_id = ${orgId} and (o.departures_from is null or o.departures_from <= ${minute(at)})`)
  return rows.length > 0
}

/** The ids of the assets that may have been at one of the locations that the select `here` returns. */
export const candidatesAt = (orgId: number, at: Instant, here: Sql): Sql => sql`
  select p.asset_id from (${here}) here join asset_positions p on p.org_id = ${orgId} and p.location_id = here.id
  union
  select m.asset_id from (${here}) here
  join moves m on m.org_id = ${orgId} and m.from_location_id = here.id and m.occurred_at >= ${minute(at)}
  union
  select d.asset_id from (${here}) here
  join departures_without_move d on d.org_id = ${orgId} and d.location_id = here.id and d.minute >= ${minute(at)}`

/** The ids of the assets that may have been at a deleted location or at none. */
export const candidatesNowhere = (orgId: number, at: Instant): Sql => {
  const deleted = sql`select l.id from locations l where l.org_id = ${orgId} and l.deleted_at is not null`
  return join(
    [
      candidatesAt(orgId, at, deleted),
      sql`select p.asset_id from asset_positions p where p.org_id = ${orgId} and p.location_id is null`,
      sql`select d.asset_id from departures_without_move d
        where d.org_id = ${orgId} and d.location_id = 0 and d.minute >= ${minute(at)}`,
    ],
    sql` union `,
  )
}
