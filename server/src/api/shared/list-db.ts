import type { Database, Db } from '../../db/database.ts'
import type { SortTerm } from '../../kernel/page.ts'

/** PostgreSQL reads and skips all rows before a page. */
const maxFastOffset = 10_000

/** A page of 200 records can have more than 30 MiB. Point reads on the same connection would wait until it is sent. */
const maxFastLimit = 50

interface ListQuery {
  limit: number
  offset: number
  /** Without it, an index has the order of the list. */
  sort?: readonly SortTerm[]
  filter: {
    externalKeys?: readonly string[] | undefined
    q?: string | undefined
    isActive?: boolean | undefined
    includeDeleted?: boolean | undefined
  }
}

/**
 * Whether an index has the order. Live records have an index for each field. Their keys are unique, so further fields do not
 * change an order by key. Deleted records have an index by key only.
 */
function isIndexed({ sort = [], filter }: ListQuery): boolean {
  const byKey = sort[0]?.field === 'external_key'
  return filter.includeDeleted ? byKey && sort.length === 1 : byKey || sort.length <= 1
}

/**
 * Whether an index finds the page, and the page is small. A filter by `is_active` reads all records when few have the value.
 */
function isFast(query: ListQuery): boolean {
  const { externalKeys, q, isActive } = query.filter
  if (q || query.limit > maxFastLimit) return false
  if (externalKeys !== undefined) return true
  return isActive === undefined && query.offset <= maxFastOffset && isIndexed(query)
}

/**
 * Returns the connections for a list: those of point reads for a small page that an index finds, those of searches for other
 * lists, which may be large or may read or sort all records of the organization. `isWide` says that the other filters of the
 * list select many rows, all of which are read.
 */
export const listDb = ({ db }: { db: Database }, orgId: number, query: ListQuery, isWide = false): Db =>
  isFast(query) && !isWide ? db.read : db.searches(orgId)
