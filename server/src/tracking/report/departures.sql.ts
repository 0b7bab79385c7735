/**
 * The assets that were at a location at a past instant, without evaluating every asset. Candidates are the assets that are
 * there now, and those that left it in the minute of the instant or later, according to `moves` and
 * `departures_without_move`; the history of each candidate then decides. Decision 7 proves that no asset is missing.
 */
import type { Db } from '../../db/database.ts'
import { type Sql, join, sql } from '../../db/sql.ts'
import { type Instant, toDatabase } from '../../kernel/instant.ts'
import { minuteOf } from '../sighting.ts'

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
