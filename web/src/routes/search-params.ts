/** What stands behind the ? of a page. Whatever is not understood is left out rather than refused. */
type Raw = Record<string, unknown>

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined

const whole = (value: unknown): number | undefined => {
  const number = Number(value)
  return Number.isInteger(number) && number > 0 ? number : undefined
}

const oneOf = <T extends string>(value: unknown, allowed: readonly T[]): T | undefined =>
  allowed.find((one) => one === value)

/** Leaves out what is undefined, so that it does not show in the address. */
const tidy = <T extends object>(search: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as never

export const signInSearch = (raw: Raw) => tidy({ to: text(raw['to']) })

const assetSorts = ['external_key', 'name', 'created_at', 'updated_at'] as const

const signed = assetSorts.flatMap((name) => [name, `-${name}`] as const)

export const assetSearch = (raw: Raw) =>
  tidy({
    q: text(raw['q']),
    sort: oneOf(raw['sort'], signed),
    active: oneOf(raw['active'], ['yes', 'no'] as const),
    location: whole(raw['location']),
    page: whole(raw['page']),
    size: whole(raw['size']),
  })

export const locationSearch = (raw: Raw) => tidy({ q: text(raw['q']) })

export const scanSearch = (raw: Raw) => tidy({ location: whole(raw['location']) })

export const labelSearch = (raw: Raw) => tidy({ kind: oneOf(raw['kind'], ['assets', 'locations'] as const) })
