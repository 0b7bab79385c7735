/** One page of a list. */
export interface Page<Item> {
  data: Item[]
  /** The requested page size. */
  limit: number
  /** The position of the first row in the whole list. */
  offset: number
  /** The number of rows in the whole list. */
  total_count: number
}

interface PageRequest {
  limit?: number
  offset?: number
}

/** The largest `limit` that the API accepts. */
const maxPageSize = 200

/** Reads page after page, beginning at `offset`, until the end of the list. */
export async function* iteratePages<Item, Query extends PageRequest>(
  query: Query | undefined,
  read: (query: Query & PageRequest) => Promise<Page<Item>>,
): AsyncGenerator<Page<Item>, void, undefined> {
  const { limit = maxPageSize, offset: start = 0, ...filters } = query ?? ({} as Query)
  for (let offset = start; ;) {
    const page = await read({ ...(filters as Query), limit, offset })
    if (page.data.length > 0) yield page
    offset += page.data.length
    if (page.data.length === 0 || offset >= page.total_count) return
  }
}

/** Yields the rows of all pages. */
export async function* iterateRows<Item>(pages: AsyncIterable<Page<Item>>): AsyncGenerator<Item, void, undefined> {
  for await (const page of pages) yield* page.data
}
