import { type Sql, sql } from '../../db/sql.ts'
import { type ReportRequest, orderBy } from './report-request.sql.ts'

/** The positions of assets, now or at a past instant. */
export interface Positions {
  /** The listed ones among the assets that the select `candidates` returns, with the columns of the report. */
  evaluated: (candidates: Sql) => Sql
  /** The ids of the assets that may be at one of the locations that the select `locations` returns. */
  candidatesAt: (locations: Sql) => Sql
  /** The ids of the assets that may be at a deleted location or at none. */
  candidatesNowhere: Sql
}

const maxLocationsPerStep = 1000

/**
 * Assets in the order of their locations. The locations are walked in the order of their keys, in growing steps, until
 * enough assets are there; `offset 0` keeps the planner from walking all locations for their order. Assets at no location are the last ones, or the first ones in descending order. Refers to `total`,
 * the number of assets of the report.
 */
export function orderedByLocation(orgId: number, request: ReportRequest, positions: Positions): Sql {
  const { evaluated, candidatesAt, candidatesNowhere } = positions
  const isDescending = request.sort[0]!.descending
  const maxRows = Math.min(request.limit + request.offset, Number.MAX_SAFE_INTEGER)
  const order = orderBy(request.sort)
  const needed = sql`least(${maxRows}, (select total.total from total))`
  const nowhere = sql`select e.asset_id from (${evaluated(candidatesNowhere)}) e where e.location_id is null`
  const isNext = isDescending ? sql`l.external_key < w.last_key` : sql`l.external_key > w.last_key`
  const [direction, last] = isDescending ? [sql`desc`, sql`min`] : [sql`asc`, sql`max`]
  const collected = sql`
    select e.id as asset_id from walked cross join unnest(walked.assets) e (id)
    ${isDescending ? sql`` : sql`union all ${nowhere} and (select cardinality(walked.assets) from walked) < ${needed}`}`
  return sql`
    with recursive walk (step, size, assets, last_key) as (
      select 1, 1, ${isDescending ? sql`array(${nowhere})` : sql`'{}'::bigint[]`}, null::text collate "C"
      union all
      select w.step + 1, least(2 * w.size, ${maxLocationsPerStep}), w.assets || s.assets, s.last_key
      from walk w cross join lateral (
        with slice as materialized (
          select l.id, l.external_key from locations l
          where l.org_id = ${orgId} and l.deleted_at is null and (w.last_key is null or ${isNext})
          order by l.external_key ${direction} limit w.size
        )
        select (select ${last}(slice.external_key) from slice) as last_key, array(
          select e.asset_id from (
            select * from (${evaluated(candidatesAt(sql`select slice.id from slice`))}) e
            where e.location_id in (select slice.id from slice) offset 0
          ) e
          order by ${order} limit ${maxRows}
        ) as assets
      ) s
      where (w.step = 1 or w.last_key is not null) and cardinality(w.assets) < ${needed}
    ),
    walked as materialized (select w.assets from walk w order by w.step desc limit 1),
    collected as materialized (${collected})
    select e.asset_id from (${evaluated(sql`select collected.asset_id from collected`)}) e
    order by ${order}`
}
