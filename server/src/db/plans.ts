/** Pieces of statements with which PostgreSQL keeps its plan. Planned anew each time, a page takes twice as long. */
import type { PageRequest } from '../kernel/page.ts'
import { type Sql, sql } from './sql.ts'

/** The usual sizes of a page, and no others, stand in the text: each text is a prepared statement of its own. */
const usualSizes = new Map<number, Sql>([
  [50, sql`limit 50`],
  [200, sql`limit 200`],
])

/** A plan made for a page of any size would be made for a tenth of the table. */
export function pageOf({ limit, offset }: PageRequest): Sql {
  const size = usualSizes.get(limit) ?? sql`limit ${limit}`
  return offset === 0 ? size : sql`${size} offset ${offset}`
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
