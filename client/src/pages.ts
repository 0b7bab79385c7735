export interface Page<Item> {
  data: Item[]
  limit: number
  offset: number
  total_count: number
}

interface Paging {
  limit?: number
  offset?: number
}

/** The most a page may hold. */
const mostPerPage = 200

/** Page after page until the list is at its end, beginning at `offset`. */
export async function* pagesOf<Item, Query extends Paging>(
  query: Query | undefined,
  read: (query: Query & Paging) => Promise<Page<Item>>,
): AsyncGenerator<Page<Item>, void, undefined> {
  const { limit = mostPerPage, offset: start = 0, ...filters } = query ?? ({} as Query)
  for (let offset = start; ;) {
    const page = await read({ ...(filters as Query), limit, offset })
    if (page.data.length > 0) yield page
    offset += page.data.length
    if (page.data.length === 0 || offset >= page.total_count) return
  }
}

/** The rows of all pages, one after the other. */
export async function* rowsOf<Item>(pages: AsyncIterable<Page<Item>>): AsyncGenerator<Item, void, undefined> {
  for await (const page of pages) yield* page.data
}
