/** Pieces of statements with which PostgreSQL keeps its plan. Planned anew each time, a page takes twice as long. */
import type { PageRequest } from '../kernel/page.ts'
import { type Sql, sql } from './sql.ts'

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
