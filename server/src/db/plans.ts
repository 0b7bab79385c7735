/** With which statements PostgreSQL keeps its plan, and with which it must not. Planned anew, a page takes twice as long. */
import type { PageRequest } from '../kernel/page.ts'
import type { Tx } from './database.ts'
import { Sql, sql } from './sql.ts'

/** On a connection: plans are made once. Citus has to see the values to find their shard. */
export const keepPlans = `
  select set_config('plan_cache_mode', 'force_generic_plan', false)
  where not exists (select from pg_extension where extname = 'citus')`

/** On a connection: PostgreSQL compares what a plan for the values at hand would cost. */
export const choosePlans = `select set_config('plan_cache_mode', 'auto', false)`

class PlannedOnce extends Sql {}

/**
 * A statement with one plan for everybody. It is made for the largest organization (migration 0019). Left to choose,
 * PostgreSQL would plan anew for each small one: it takes planning for cheaper than it is.
 */
export const planOnce = (statement: Sql): Sql => new PlannedOnce(statement.strings, statement.holes)

export const isPlannedOnce = (statement: Sql): boolean => statement instanceof PlannedOnce

/** The usual sizes of a page stand in the text: each text is a prepared statement of its own. */
const usualSizes = new Map<number, Sql>([
  [50, sql`limit 50`],
  [200, sql`limit 200`],
])

/**
 * A page of an ordered select. Where its size is a value, PostgreSQL assumes a tenth of the rows and walks their order,
 * also where an organization or an asset has few on average and this one has a million. What follows would be planned for
 * a tenth of the table too, so the size stands around it once more.
 */
export function pageOf(ordered: Sql, { limit, offset }: PageRequest): Sql {
  const page = offset === 0 ? sql`${ordered} limit ${limit}` : sql`${ordered} limit ${limit} offset ${offset}`
  const size = usualSizes.get(limit)
  return size === undefined ? page : sql`select * from (${page}) page_of_any_size ${size}`
}

/** So many members PostgreSQL takes a list to have that it does not know. */
const assumed = 10

/**
 * A list to be compared with `= any`, where saying something twice makes no difference. A list shorter than assumed is
 * cheaper than assumed, and PostgreSQL would make a plan of its own for each.
 */
export function anyOf<Value>(values: readonly Value[]): readonly Value[] {
  const first = values[0]
  if (first === undefined || values.length >= assumed) return values
  return [...values, ...Array.from({ length: assumed - values.length }, () => first)]
}

/**
 * Plans what follows in the transaction anew: for tables that are empty at one moment and long at the next. A plan made for
 * few rows would be kept until the next statistics, and read all of them each time.
 */
export async function planAnew(tx: Tx): Promise<void> {
  await tx.query(sql`set local plan_cache_mode = force_custom_plan`)
}
