import type { Db } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { Instant } from '../../kernel/instant.ts'
import { isEffective, outsideWindow } from '../../records/list.sql.ts'
import { maxReportRows, rolledUp } from './dwell-and-flow.sql.ts'
import { latestMinute } from './report-at.sql.ts'

/** The number of assets at a location, or at none. */
export interface AssetsAtLocation {
  location: { id: number; key: string; name: string } | null
  assets: number
}

/** The positions at an instant, counted one by one. */
const countedAt = (orgId: number, at: Instant, now: Instant): Sql => sql`
  select m.location_id, count(*) as assets
  from asset_positions p join assets a on a.org_id = ${orgId} and a.id = p.asset_id
  cross join lateral (${latestMinute(orgId, at)}) m
  where p.org_id = ${orgId} and a.deleted_at is null and ${isEffective(sql`a`, now)}
  group by m.location_id`

/** All positions now, minus those of the few assets that are deleted or outside their period of validity. */
function countedNow(orgId: number, now: Instant): Sql {
  const { notYetValid, expired } = outsideWindow(sql`a`, now)
  const idsOf = (condition: Sql): Sql => sql`select a.id from assets a where a.org_id = ${orgId} and ${condition}`
  return sql`
    select c.location_id, sum(c.assets) as assets from (
      select p.location_id, count(*) as assets from asset_positions p where p.org_id = ${orgId} group by p.location_id
      union all
      select p.location_id, -count(*) from (
        ${idsOf(sql`a.deleted_at is not null`)}
        union all ${idsOf(sql`a.deleted_at is null and ${notYetValid}`)}
        union all ${idsOf(sql`a.deleted_at is null and ${expired}`)}
      ) hidden cross join lateral (
        select q.location_id from asset_positions q where q.org_id = ${orgId} and q.asset_id = hidden.id offset 0
      ) p
      group by p.location_id
    ) c
    group by c.location_id having sum(c.assets) > 0`
}

/**
 * How many assets were at each location at an instant, or are now: the rows of the report, counted. Locations below the
 * level are rolled up. Assets at no location, or at one that is deleted now, are counted together.
 */
export async function assetsPerLocation(
  db: Db,
  orgId: number,
  { at, now, level }: { at: Instant | undefined; now: Instant; level: number },
): Promise<AssetsAtLocation[]> {
  const rows = await db.query<{ id: number | null; external_key: string; name: string; assets: number }>(sql`
    with recursive ${rolledUp(orgId, level)},
    counted as (${at === undefined ? countedNow(orgId, now) : countedAt(orgId, at, now)})
    select g.id, g.external_key, g.name, sum(c.assets)::bigint as assets
    from counted c
    left join locations l on l.org_id = ${orgId} and l.id = c.location_id and l.deleted_at is null
    left join tree t on t.id = l.id
    left join locations g on g.org_id = ${orgId} and g.id = t.group_id
    group by g.id, g.external_key, g.name order by assets desc, g.id limit ${maxReportRows}`)
  return rows.map(({ id, external_key: key, name, assets }) => ({
    location: id === null ? null : { id, key, name },
    assets,
  }))
}
