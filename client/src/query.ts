type Value = string | number | boolean | null | undefined

/** The parameters of a query. A list is sent as a repeated parameter. */
export type Query = Record<string, Value | readonly Value[]>

/** The query string with its question mark. Parameters that are undefined or null are omitted. */
export function buildQuery(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const item of [value].flat()) if (item !== undefined && item !== null) search.append(name, String(item))
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}
