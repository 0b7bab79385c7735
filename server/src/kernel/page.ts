export interface PageRequest {
  limit: number
  offset: number
}

export interface Page<T> {
  rows: T[]
  total: number
}

/** Each row has the total. A page beyond the last one has one row, which has no item. */
export function toPage<Row extends { total: number }, Item>(
  rows: readonly Row[],
  itemOf: (row: Row) => Item | null,
): Page<Item> {
  return { rows: rows.map(itemOf).filter((item) => item !== null), total: rows[0]?.total ?? 0 }
}

export interface SortTerm<Field extends string = string> {
  field: Field
  descending: boolean
}
