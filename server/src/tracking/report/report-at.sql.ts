/**
 * The unfiltered report at a past instant. The position of an asset at an instant is the latest minute of its history whose
 * observation is not after it. To evaluate a million assets takes seconds, so the total comes from counters, and the page is
 * found in the order of the keys, of the time or of the locations. Other orders evaluate every asset: the assets that were
 * unseen for longest at an instant are those with the longest gaps in their histories, which no index shows.
 */
import { paginate } from '../../db/plan-cache.ts'
import { type Sql, join, sql } from '../../db/sql.ts'
import { type Instant, endOfMillisecond, toDatabase } from '../../kernel/instant.ts'
import { isEffective, outsideWindow } from '../../records/list.sql.ts'
import { candidatesAt, candidatesNowhere } from './departures.sql.ts'
import { orderedByLocation } from './report-by-location.sql.ts'
import { type ReportRequest, orderBy } from './report-request.sql.ts'
import { isObservedWithin } from '../time-bounds.sql.ts'

export interface PastReportLimits {
  /** Up to this many assets are found by their first sighting or by their locations, instead of in the order of the report. */
  maxUnorderedAssets: number
  /** The number of minutes that are read at once in the order of time, at most 1000. */
  slice: number
}

export interface PastReportRequest extends ReportRequest {
  at: Instant
  limits: PastReportLimits
  /** Departures after the instant are complete, so that the assets of a location can be found by them. */
  hasDepartures: boolean
}

export const defaultLimits: PastReportLimits = { maxUnorderedAssets: 5000, slice: 1000 }

/** Bounds have the precision of milliseconds, like those of other times; see time-bounds.sql.ts. */
const until = (at: Instant): Sql => sql`${toDatabase(endOfMillisecond(at))}::timestamptz`

const dayOf = (at: Instant): Sql => sql`${toDatabase(`${at.slice(0, 10)}T00:00:00.000000Z` as Instant)}::timestamptz`

/** The latest minute, until the instant, of the asset of the position `p`. */
export const latestMinute = (orgId: number, at: Instant): Sql => sql`
  select h.location_id, h.observed_at from asset_minutes h
  where h.org_id = ${orgId} and h.asset_id = p.asset_id and h.minute >= coalesce(p.history_from, '-infinity')
    and ${join(isObservedWithin(sql`h`, { to: at }), sql` and `)}
  order by h.minute desc limit 1`

/**
 * The position `p` of the asset `c.asset_id`. `offset 0` makes the planner look up each by its key; otherwise it scans all
 * positions, because it expects far more candidates.
 */
export const positionOf = (orgId: number): Sql => sql`
  cross join lateral (
    select q.asset_id, q.history_from from asset_positions q
    where q.org_id = ${orgId} and q.asset_id = c.asset_id offset 0
  ) p`

const liveness = ({ includeDeleted }: ReportRequest): Sql => (includeDeleted ? sql`true` : sql`a.deleted_at is null`)

const isListed = (request: ReportRequest): Sql => sql`${liveness(request)} and ${isEffective(sql`a`, request.now)}`

/** The asset `a` had been seen by the instant. */
const isSeenBy = (orgId: number, at: Instant): Sql => sql`(
  select f.seen_at from first_sightings f where f.org_id = ${orgId} and f.asset_id = a.id
) <= ${until(at)}`

/**
 * The total of an unfiltered report: the assets that were seen for the first time on an earlier day, which are counted, or on
 * the same day, minus the few assets outside their period of validity. Those of the same day are counted in the index alone,
 * and the deleted ones among them subtracted, because all assets may have been seen for the first time on one day.
 */
function countedTotal(orgId: number, request: PastReportRequest): Sql {
  const { at, includeDeleted, now } = request
  const { notYetValid, expired } = outsideWindow(sql`a`, now)
  const countOf = (condition: Sql): Sql => sql`
    select count(*) from assets a
    where a.org_id = ${orgId} and ${liveness(request)} and ${condition} and ${isSeenBy(orgId, at)}`
  const isOnSameDay = sql`f.org_id = ${orgId} and f.seen_at >= ${dayOf(at)} and f.seen_at <= ${until(at)}`
  const deletedOnSameDay = sql`
    select count(*) from assets a join first_sightings f on f.asset_id = a.id and ${isOnSameDay}
    where a.org_id = ${orgId} and a.deleted_at is not null`
  return sql`
    select (
      (select coalesce(sum(${includeDeleted ? sql`live + deleted` : sql`live`}), 0) from first_sighting_counts
        where org_id = ${orgId} and day < ${dayOf(at)})
      + (select count(*) from first_sightings f where ${isOnSameDay})
      - (${includeDeleted ? sql`0` : deletedOnSameDay})
      - (${countOf(notYetValid)}) - (${countOf(expired)})
    )::bigint as total`
}

const total = sql`(select total.total from total)`

/**
 * Assets in the order of their keys, from the assets table. If few assets had been seen by the instant, most rows of that
 * table would be skipped, so the assets are found by their first sighting.
 */
function orderedByKey(orgId: number, request: PastReportRequest): Sql {
  const { at, limit, offset, limits } = request
  const order = orderBy(request.sort)
  const columns = sql`select a.id as asset_id, a.external_key as asset_external_key`
  const fromAssetsTable = (condition: Sql): Sql => sql`(
    ${columns} from assets a
    where a.org_id = ${orgId} and ${condition} and ${isEffective(sql`a`, request.now)} and ${isSeenBy(orgId, at)}
      and ${total} > ${limits.maxUnorderedAssets}
    order by ${order} limit ${Math.min(limit + offset, Number.MAX_SAFE_INTEGER)})`
  const bySightings = sql`(
    ${columns} from first_sightings f join assets a on a.org_id = ${orgId} and a.id = f.asset_id
    where f.org_id = ${orgId} and f.seen_at <= ${until(at)} and ${total} <= ${limits.maxUnorderedAssets} and ${isListed(request)})`
  const all = [bySightings, fromAssetsTable(sql`a.deleted_at is null`)]
  if (request.includeDeleted) all.push(fromAssetsTable(sql`a.deleted_at is not null`))
  return sql`select * from (${join(all, sql` union all `)}) one order by ${order}`
}

/** The planner must know that a slice is small: it estimates a limit that is a parameter as a tenth of the history. */
const maxSlice = sql`limit 1000`

/**
 * Assets in the order of their latest sighting, newest first, by reading the history backwards from the instant. If few
 * assets are seen again and again, this could read the whole history. So it stops after some minutes per asset, and every
 * asset is evaluated instead.
 */
function newestFirst(orgId: number, request: PastReportRequest): Sql {
  const { at, limit, offset, limits } = request
  const needed = sql`least(${limit + offset}, ${total})`
  return sql`
    with recursive walk (step, assets, before, after_id) as (
      select 1, '{}'::bigint[], ${until(at)}, 0::bigint
      union all
      select w.step + 1, w.assets || s.assets, s.before, s.after_id
      from walk w cross join lateral (
        with slice as materialized (
          select * from (
            select h.asset_id, h.minute, h.observed_at from asset_minutes h
            where h.org_id = ${orgId} and ${join(isObservedWithin(sql`h`, { to: at }), sql` and `)}
              and h.observed_at <= w.before and not (h.observed_at = w.before and h.asset_id <= w.after_id)
            order by h.observed_at desc, h.asset_id limit ${limits.slice}
          ) small ${maxSlice}
        ),
        latest as (
          select slice.asset_id, max(slice.minute) as minute, max(slice.observed_at) as observed_at from slice
          where not exists (select from unnest(w.assets) e (id) where e.id = slice.asset_id)
          group by slice.asset_id
        ),
        last as (select slice.observed_at, slice.asset_id from slice order by slice.observed_at, slice.asset_id desc limit 1)
        select (select last.observed_at from last) as before, (select last.asset_id from last) as after_id, array(
          select n.asset_id from latest n
          join asset_positions p on p.org_id = ${orgId} and p.asset_id = n.asset_id
            and n.minute >= coalesce(p.history_from, '-infinity')
          join assets a on a.org_id = ${orgId} and a.id = n.asset_id
          where ${isListed(request)} order by n.observed_at desc, n.asset_id
        ) as assets
      ) s
      where w.before is not null and cardinality(w.assets) < ${needed} and w.step * ${limits.slice} <= 4 * ${total}
    ),
    walked as (
      select w.assets, w.before is null or cardinality(w.assets) >= ${needed} as is_complete
      from walk w order by w.step desc limit 1
    )
    select one.asset_id from (
      select e.id as asset_id, e.n, null as last_seen_at
      from walked cross join unnest(walked.assets) with ordinality e (id, n) where walked.is_complete
      union all
      select e.asset_id, null, e.last_seen_at from (${evaluated(orgId, request)}) e
      where not (select walked.is_complete from walked)
    ) one order by one.n, one.last_seen_at desc, one.asset_id`
}

/** The listed assets with their positions at the instant: all of them, or those that the select `candidates` returns. */
const evaluated = (orgId: number, request: PastReportRequest, candidates?: Sql): Sql => sql`
  select a.id as asset_id, m.observed_at as last_seen_at, a.external_key as asset_external_key,
    l.id as location_id, l.external_key as location_external_key
  from ${candidates === undefined ? sql`asset_positions p` : sql`(${candidates}) c ${positionOf(orgId)}`}
  cross join lateral (${latestMinute(orgId, request.at)}) m
  join assets a on a.org_id = ${orgId} and a.id = p.asset_id
  left join locations l on l.org_id = ${orgId} and l.id = m.location_id and l.deleted_at is null
  where ${candidates === undefined ? sql`p.org_id = ${orgId} and` : sql``} ${isListed(request)}`

/** The common table expressions `total` and `ids` of an unfiltered report; `ids` has the ids of the assets of the page. */
export function pastReport(orgId: number, request: PastReportRequest): Sql {
  const { at } = request
  const [first, ...others] = request.sort
  const isByKey = first?.field === 'asset_external_key' && (others.length === 0 || !request.includeDeleted)
  const isNewestFirst = first?.field === 'asset_last_seen' && first.descending && others.length === 0
  const isByLocation = first?.field === 'location_external_key' && request.hasDepartures
  const ordered = isByKey
    ? orderedByKey(orgId, { ...request, sort: [first] })
    : isNewestFirst
      ? newestFirst(orgId, request)
      : isByLocation
        ? orderedByLocation(orgId, request, {
            evaluated: (candidates) => evaluated(orgId, request, candidates),
            candidatesAt: (locations) => candidatesAt(orgId, at, locations),
            candidatesNowhere: candidatesNowhere(orgId, at),
          })
        : sql`select asset_id from (${evaluated(orgId, request)}) one order by ${orderBy(request.sort)}`
  return sql`total as (${countedTotal(orgId, request)}), ids as (${paginate(ordered, request)})`
}
