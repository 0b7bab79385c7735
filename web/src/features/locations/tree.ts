import type { PlaceCount } from '../../api/types.ts'

export interface TreeRow {
  place: PlaceCount
  depth: number
  hasChildren: boolean
}

/** The places in the order a tree shows them: below each its children, by name. Closed ones hide what is below. */
export function treeRows(places: readonly PlaceCount[], closed: ReadonlySet<number>): TreeRow[] {
  const known = new Set(places.map((one) => one.location_id))
  const children = new Map<number | null, PlaceCount[]>()
  for (const place of places) {
    const parent = place.parent_id !== null && known.has(place.parent_id) ? place.parent_id : null
    children.set(parent, [...(children.get(parent) ?? []), place])
  }
  for (const list of children.values())
    list.sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }) || a.location_id - b.location_id)
  const rows: TreeRow[] = []
  const walk = (parent: number | null, depth: number): void => {
    for (const place of children.get(parent) ?? []) {
      const hasChildren = children.has(place.location_id)
      rows.push({ place, depth, hasChildren })
      if (hasChildren && !closed.has(place.location_id)) walk(place.location_id, depth + 1)
    }
  }
  walk(null, 0)
  return rows
}

/** A search shows what matches and the way to it. */
export function matching(places: readonly PlaceCount[], text: string): readonly PlaceCount[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return places
  const byId = new Map(places.map((one) => [one.location_id, one]))
  const kept = new Set<number>()
  for (const place of places) {
    if (!`${place.name}\n${place.external_key}`.toLowerCase().includes(wanted)) continue
    for (let one: PlaceCount | undefined = place; one !== undefined && !kept.has(one.location_id);) {
      kept.add(one.location_id)
      one = one.parent_id === null ? undefined : byId.get(one.parent_id)
    }
  }
  return places.filter((one) => kept.has(one.location_id))
}
