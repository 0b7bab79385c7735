export interface PageRequest {
  limit: number
  offset: number
}

export interface Page<T> {
  rows: T[]
  total: number
}

export interface SortTerm<Field extends string = string> {
  field: Field
  descending: boolean
}
