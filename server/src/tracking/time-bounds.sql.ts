import { type Sql, sql } from '../db/sql.ts'
import { type Instant, endOfMillisecond, startOfMillisecond, toDatabase } from '../kernel/instant.ts'
import { minuteOf } from './sighting.ts'

/**
 * Bounds compare times at the millisecond that answers show, so a time copied from an answer finds its row. The bound is
 * widened to its whole millisecond, because an expression over the column would not be served by an index.
 */
export const isAtOrAfter = (column: Sql, bound: Instant): Sql =>
  sql`${column} >= ${toDatabase(startOfMillisecond(bound))}`

export const isAtOrBefore = (column: Sql, bound: Instant): Sql =>
  sql`${column} <= ${toDatabase(endOfMillisecond(bound))}`

/** Conditions on the rows `of` of asset_minutes; the bound on the minute itself lets whole partitions be left alone. */
export function isObservedWithin(
  of: Sql,
  { from, to }: { from?: Instant | undefined; to?: Instant | undefined },
): Sql[] {
  const bounds: Sql[] = []
  if (from !== undefined)
    bounds.push(sql`${of}.minute >= ${toDatabase(minuteOf(from))} and ${isAtOrAfter(sql`${of}.observed_at`, from)}`)
  if (to !== undefined)
    bounds.push(sql`${of}.minute <= ${toDatabase(minuteOf(to))} and ${isAtOrBefore(sql`${of}.observed_at`, to)}`)
  return bounds
}
