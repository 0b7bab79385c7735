import type { Db } from '../../db/database.ts'
import { paginate } from '../../db/plan-cache.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../../kernel/instant.ts'
import { type Page, type PageRequest, toPage } from '../../kernel/page.ts'

export interface UnseenAsset {
  assetId: number
  externalKey: string
  name: string
  locationId: number | null
  locationName: string | null
  lastSeenAt: Instant
}

interface UnseenAssetRow {
  total: number
  asset_id: number | null
  external_key: string
  name: string
  location_id: number | null
  location_name: string | null
  last_seen_at: string
}

/** Scanned assets not seen since an instant, longest unseen first; ties are ordered like the index. */
export async function listUnseenAssets(
  db: Db,
  orgId: number,
  since: Instant,
  page: PageRequest,
): Promise<Page<UnseenAsset>> {
  const before = toDatabase(since)
  const longest = sql`
    select p.asset_id, a.external_key, a.name, p.location_id, p.last_seen_at
    from asset_positions p join assets a on a.org_id = ${orgId} and a.id = p.asset_id and a.deleted_at is null
    where p.org_id = ${orgId} and p.last_seen_at < ${before}
    order by p.last_seen_at, p.asset_id desc`
  const rows = await db.query<UnseenAssetRow>(sql`
    with total as (
      select (select count(*) from asset_positions p where p.org_id = ${orgId} and p.last_seen_at < ${before})
        - (select count(*) from assets a join asset_positions p on p.org_id = ${orgId} and p.asset_id = a.id
          where a.org_id = ${orgId} and a.deleted_at is not null and p.last_seen_at < ${before}) as total
    ),
    page as (${paginate(longest, page)})
    select total.total, page.asset_id, page.external_key, page.name, l.id as location_id, l.name as location_name,
      page.last_seen_at
    from total left join page on true
    left join locations l on l.org_id = ${orgId} and l.id = page.location_id and l.deleted_at is null
    order by page.last_seen_at, page.asset_id desc`)
  const unseenAssetOf = (row: UnseenAssetRow, assetId: number): UnseenAsset => ({
    assetId,
    externalKey: row.external_key,
    name: row.name,
    locationId: row.location_id,
    locationName: row.location_name,
    lastSeenAt: fromDatabase(row.last_seen_at),
  })
  return toPage(rows, (row) => (row.asset_id === null ? null : unseenAssetOf(row, row.asset_id)))
}

export interface NeverSeenAsset {
  assetId: number
  externalKey: string
  name: string
  createdAt: Instant
}

/** The number of assets that are tested in the order of their keys before all assets are compared with all positions. */
const maxTested = 10_000

/**
 * Assets without any sighting, ordered by key. The total comes from the counters, as on the overview. If the first assets
 * do not fill the page, the others are found by merging the primary keys of assets and positions: to look up the position of
 * one asset after the other takes several times as long, and new assets often have the last keys.
 */
export async function listNeverSeenAssets(
  db: Db,
  orgId: number,
  page: PageRequest,
  tested = maxTested,
): Promise<Page<NeverSeenAsset>> {
  const { limit, offset } = page
  const needed = sql`(select least(${Math.min(limit + offset, Number.MAX_SAFE_INTEGER)}, total.total) from total)`
  const columns = (of: Sql): Sql => sql`select ${of}.id, ${of}.external_key, ${of}.name, ${of}.created_at`
  const isUnseen = (of: Sql): Sql => sql`
    not exists (select from asset_positions p where p.org_id = ${orgId} and p.asset_id = ${of}.id)`
  const rows = await db.query<{
    total: number
    id: number | null
    external_key: string
    name: string
    created_at: string
  }>(sql`
    with total as (
      select (select coalesce(sum(active + inactive), 0)::bigint from record_counts
          where org_id = ${orgId} and kind = 'asset')
        - (select coalesce(sum(active), 0)::bigint from record_counts
          where org_id = ${orgId} and kind = 'position') as total
    ),
    tested as materialized (
      ${columns(sql`first`)} from (
        ${columns(sql`a`)} from assets a
        where a.org_id = ${orgId} and a.deleted_at is null and ${needed} > 0 order by a.external_key limit ${tested}
      ) first
      where ${isUnseen(sql`first`)} order by first.external_key limit ${needed}
    ),
    page as (${paginate(
      sql`select * from (
          select * from tested where (select count(*) from tested) >= ${needed}
          union all
          ${columns(sql`other`)} from assets other
          where other.org_id = ${orgId} and other.deleted_at is null and ${isUnseen(sql`other`)}
            and (select count(*) from tested) < ${needed}
        ) unseen
        order by unseen.external_key, unseen.id`,
      page,
    )})
    select total.total, page.id, page.external_key, page.name, page.created_at from total left join page on true
    order by page.external_key, page.id`)
  const neverSeenOf = (row: (typeof rows)[number], assetId: number): NeverSeenAsset => ({
    assetId,
    externalKey: row.external_key,
    name: row.name,
    createdAt: fromDatabase(row.created_at),
  })
  return toPage(rows, (row) => (row.id === null ? null : neverSeenOf(row, row.id)))
}
