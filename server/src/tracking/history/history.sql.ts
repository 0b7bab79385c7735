import type { Db } from '../../db/database.ts'
import { paginate } from '../../db/plan-cache.ts'
import { join, sql } from '../../db/sql.ts'
import { type Instant, fromDatabase, microsecondsBetween } from '../../kernel/instant.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { isObservedWithin } from '../time-bounds.sql.ts'

export interface HistoryEntry {
  observedAt: Instant
  locationId: number | null
  locationKey: string | null
  /** Whole seconds since the asset's previous entry; null on its earliest. */
  durationSeconds: number | null
}

export interface HistoryRequest extends PageRequest {
  from?: Instant | undefined
  to?: Instant | undefined
  descending: boolean
}

interface HistoryRow {
  total: number
  minute: string | null
  location_id: number | null
  location_key: string | null
  observed_at: string
  earlier_at: string | null
}

/**
 * A page of an asset's minutes. The entry before the earliest one of the page is read too, regardless of the bounds, to
 * compute its duration; no other rows are read. Without bounds, the total comes from a counter.
 */
export async function assetHistory(
  db: Db,
  orgId: number,
  assetId: number,
  request: HistoryRequest,
): Promise<Page<HistoryEntry>> {
  const ofAsset = sql`m.org_id = ${orgId} and m.asset_id = ${assetId}
    and m.minute >= coalesce((select history_from from counters), '-infinity')`
  const bounds = isObservedWithin(sql`m`, request)
  const where = join([ofAsset, ...bounds], sql` and `)
  const direction = request.descending ? sql`desc` : sql`asc`
  const total =
    bounds.length === 0
      ? sql`select coalesce((select minutes from counters), 0) as total`
      : sql`select count(*) as total from asset_minutes m where ${where}`
  const ordered = sql`
    select m.minute, m.location_id, m.observed_at from asset_minutes m where ${where} order by m.minute ${direction}`
  const rows = await db.query<HistoryRow>(sql`
    with counters as (
      select minutes, history_from from asset_positions where org_id = ${orgId} and asset_id = ${assetId}
    ),
    total as (${total}),
    page as (${paginate(ordered, request)}),
    earlier as (
      select m.observed_at from asset_minutes m where ${ofAsset} and m.minute < (select min(minute) from page)
      order by m.minute desc limit 1
    )
    select total.total, page.minute, page.location_id, page.observed_at, l.external_key as location_key,
      (select observed_at from earlier) as earlier_at
    from total left join page on true
    left join locations l on l.org_id = ${orgId} and l.id = page.location_id and l.deleted_at is null
    order by page.minute`)
  const ascending = entriesOf(rows)
  return { rows: request.descending ? ascending.reverse() : ascending, total: rows[0]?.total ?? 0 }
}

function entriesOf(rows: readonly HistoryRow[]): HistoryEntry[] {
  const first = rows[0]?.earlier_at ?? null
  let previous = first === null ? null : fromDatabase(first)
  const entries: HistoryEntry[] = []
  for (const row of rows) {
    if (row.minute === null) continue
    const observedAt = fromDatabase(row.observed_at)
    const durationSeconds = previous === null ? null : Math.floor(microsecondsBetween(previous, observedAt) / 1e6)
    entries.push({ observedAt, locationId: row.location_id, locationKey: row.location_key, durationSeconds })
    previous = observedAt
  }
  return entries
}
