import { type Sql, sql } from '../db/sql.ts'
import { type Instant, endOfMillisecond, startOfMillisecond, toDatabase } from '../kernel/instant.ts'
import { minuteOf } from './sighting.ts'

/**
 * Bounds have the millisecond precision of responses, so a time copied from a response matches its row. The bound is
 * widened to its whole millisecond, because an index cannot serve an expression over the column.
 */
export const isAtOrAfter = (column: Sql, bound: Instant): Sql =>
  sql`${column} >= ${toDatabase(startOfMillisecond(bound))}`

export const isAtOrBefore = (column: Sql, bound: Instant): Sql =>
  sql`${column} <= ${toDatabase(endOfMillisecond(bound))}`

/** Conditions on the rows `of` of asset_minutes. The bound on the minute lets the planner skip whole partitions. */
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
