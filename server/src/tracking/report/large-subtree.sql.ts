/**
 * The assets at locations that hold a large share of all assets, such as a whole site. To find all of them and sort them
 * would take as long as to read every asset. So a page is found in the order of the list, in which every tenth asset or more
 * is a match, and the total is counted in the index of positions by location alone.
 */
import type { Db } from '../../db/database.ts'
import { type Sql, join, sql } from '../../db/sql.ts'
import type { Instant } from '../../kernel/instant.ts'
import { outsideWindow } from '../../records/list.sql.ts'
import { type RequestedLocations, requestedLocations } from './report-request.sql.ts'

/** Up to this many assets are found by their locations, whatever their share is. */
const defaultMaxUnorderedAssets = 5000

/** The positions at the locations of the common table expression `here`. */
const countPositions = (orgId: number): Sql => sql`
  select coalesce(sum(each.positions), 0)::bigint as positions from here cross join lateral (
    select count(*) as positions from asset_positions p where p.org_id = ${orgId} and p.location_id = here.id
  ) each`

/** Whether more than `maxUnorderedAssets` assets, and at least a tenth of all, are at the locations. */
export async function isLargeSubtree(
  db: Db,
  orgId: number,
  locations: RequestedLocations,
  maxUnorderedAssets = defaultMaxUnorderedAssets,
): Promise<boolean> {
  const rows = await db.query(sql`
    with here as materialized (${requestedLocations(orgId, locations)})
    select from (${countPositions(orgId)}) there
    where there.positions > ${maxUnorderedAssets} and 10 * there.positions >= (
      select coalesce(sum(active + deleted_active), 0) from record_counts where org_id = ${orgId} and kind = 'position'
    )`)
  return rows.length > 0
}

/**
 * The common table expressions `here`, the locations, and `total`, the number of assets there that are within their period
 * of validity: all positions there minus those of the few assets that are not listed.
 */
export function largeSubtree(
  orgId: number,
  locations: RequestedLocations,
  { now, includeDeleted }: { now: Instant; includeDeleted?: boolean | undefined },
): Sql {
  const { notYetValid, expired } = outsideWindow(sql`a`, now)
  const countOf = (...conditions: Sql[]): Sql => sql`
    select count(*) from assets a cross join lateral (
      select p.location_id from asset_positions p where p.org_id = ${orgId} and p.asset_id = a.id offset 0
    ) p
    where a.org_id = ${orgId} and ${join(conditions, sql` and `)} and ${isThere(sql`p.location_id`)}`
  const isDeleted = sql`a.deleted_at is not null`
  const liveness = includeDeleted ? [] : [sql`a.deleted_at is null`]
  const unlisted = [countOf(...liveness, notYetValid), countOf(...liveness, expired)]
  if (!includeDeleted) unlisted.push(countOf(isDeleted))
  return sql`
    here as materialized (${requestedLocations(orgId, locations)}),
    total as (
      select there.positions - (${join(unlisted, sql`) - (`)}) as total from (${countPositions(orgId)}) there
    )`
}

/** The location is one of `here`. As a test of each row it is not turned into a join, which would read all positions there. */
export const isThere = (locationId: Sql): Sql => sql`((${locationId} in (select here.id from here)) is true)`
