/** Parsers of the query parameters of each page. Invalid parameters are ignored. */
type Raw = Record<string, unknown>

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined

const positiveInteger = (value: unknown): number | undefined => {
  const number = Number(value)
  return Number.isInteger(number) && number > 0 ? number : undefined
}

const oneOf = <T extends string>(value: unknown, allowed: readonly T[]): T | undefined =>
  allowed.find((one) => one === value)

const timestamp = (value: unknown): string | undefined =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : undefined

/** Removes undefined parameters, so that they do not appear in the URL. */
const withoutUndefined = <T extends object>(search: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as never

export const signInSearch = (raw: Raw) => withoutUndefined({ to: text(raw['to']) })

/** The chart of moves covers the last `days`; without them, the last day. */
export const overviewSearch = (raw: Raw) =>
  withoutUndefined({ days: positiveInteger(oneOf(String(raw['days']), ['7', '30'])) })

/** `create=yes` opens the form for a new record. */
const create = (raw: Raw) => ({ create: oneOf(raw['create'], ['yes'] as const) })

const assetSorts = ['external_key', 'name', 'created_at', 'updated_at', 'last_seen_at'] as const

const assetSortOrders = assetSorts.flatMap((name) => [name, `-${name}`] as const)

/** `hide` lists the columns that are not shown. */
export const assetSearch = (raw: Raw) =>
  withoutUndefined({
    q: text(raw['q']),
    sort: oneOf(raw['sort'], assetSortOrders),
    active: oneOf(raw['active'], ['yes', 'no'] as const),
    location: positiveInteger(raw['location']),
    page: positiveInteger(raw['page']),
    size: positiveInteger(raw['size']),
    hide: text(raw['hide']),
    ...create(raw),
  })

export const locationSearch = (raw: Raw) => withoutUndefined({ q: text(raw['q']), ...create(raw) })

/** `below=no` excludes the locations below; `page` is that of the assets, `events` that of the arrivals and departures. */
export const locationPageSearch = (raw: Raw) =>
  withoutUndefined({
    below: oneOf(raw['below'], ['no'] as const),
    page: positiveInteger(raw['page']),
    events: positiveInteger(raw['events']),
  })

/** The history of an asset covers `minutes` until an instant, or until now. */
export const assetPageSearch = (raw: Raw) =>
  withoutUndefined({ minutes: positiveInteger(raw['minutes']), until: timestamp(raw['until']) })

export const readersSearch = (raw: Raw) =>
  withoutUndefined({
    ...create(raw),
    show: oneOf(raw['show'], ['silent'] as const),
    page: positiveInteger(raw['page']),
  })

/** The parameters of lists without filters. */
export const pageSearch = (raw: Raw) => withoutUndefined({ page: positiveInteger(raw['page']) })

export const unseenSearch = (raw: Raw) =>
  withoutUndefined({ show: oneOf(raw['show'], ['never'] as const), page: positiveInteger(raw['page']) })

export const membersSearch = (raw: Raw) => withoutUndefined({ ...create(raw), page: positiveInteger(raw['page']) })

export const importSearch = (raw: Raw) => withoutUndefined({ import: positiveInteger(raw['import']) })

export const scanSearch = (raw: Raw) => withoutUndefined({ location: positiveInteger(raw['location']) })

const reportTabs = ['point-in-time', 'dwell', 'flow', 'history'] as const

export type ReportTab = (typeof reportTabs)[number]

/**
 * `at` is the time of the report about a point in time. The period is the last `days`, or `from` until `to`. `level` is the level
 * of the location tree to which a report is rolled up, or `all`. `below=no` excludes the locations below `location`.
 */
export const reportSearch = (raw: Raw) =>
  withoutUndefined({
    tab: oneOf(raw['tab'], reportTabs),
    at: timestamp(raw['at']),
    page: positiveInteger(raw['page']),
    days: positiveInteger(oneOf(String(raw['days']), ['1', '7', '30'])),
    from: timestamp(raw['from']),
    to: timestamp(raw['to']),
    asset: positiveInteger(raw['asset']),
    location: positiveInteger(raw['location']),
    below: oneOf(raw['below'], ['no'] as const),
    level: /^(all|\d{1,2})$/.test(String(raw['level'])) ? String(raw['level']) : undefined,
    q: text(raw['q']),
    sort: text(raw['sort']),
  })

/** `keys` are the selected assets; without it, the page offers all. `max` is the number of labels. */
export const labelSearch = (raw: Raw) =>
  withoutUndefined({
    kind: oneOf(raw['kind'], ['assets', 'locations'] as const),
    keys: Array.isArray(raw['keys']) ? raw['keys'].flatMap((one) => text(one) ?? []).slice(0, 200) : undefined,
    q: text(raw['q']),
    max: positiveInteger(raw['max']),
    sheet: text(raw['sheet']),
    code: oneOf(raw['code'], ['code128'] as const),
    content: oneOf(raw['content'], ['barcode'] as const),
  })
