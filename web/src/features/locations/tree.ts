import type { LocationCount } from '../../api/types.ts'

/** One collator for all comparisons: to create one takes longer than a comparison. */
const collator = new Intl.Collator(undefined, { numeric: true })

/** Sorts locations by name; those of one name have a fixed order. */
export const byName = (a: LocationCount, b: LocationCount): number =>
  collator.compare(a.name, b.name) || a.location_id - b.location_id

export interface TreeRow {
  location: LocationCount
  depth: number
  hasChildren: boolean
}

/**
 * The rows of the tree in display order: each location is followed by its children, sorted by name. The children of a
 * collapsed location are omitted.
 */
export function treeRows(locations: readonly LocationCount[], collapsed: ReadonlySet<number>): TreeRow[] {
  const ids = new Set(locations.map((one) => one.location_id))
  const children = new Map<number | null, LocationCount[]>()
  for (const location of locations) {
    const parent = location.parent_id !== null && ids.has(location.parent_id) ? location.parent_id : null
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [location])
    else siblings.push(location)
  }
  for (const list of children.values()) list.sort(byName)
  const rows: TreeRow[] = []
  const walk = (parent: number | null, depth: number): void => {
    for (const location of children.get(parent) ?? []) {
      const hasChildren = children.has(location.location_id)
      rows.push({ location, depth, hasChildren })
      if (hasChildren && !collapsed.has(location.location_id)) walk(location.location_id, depth + 1)
    }
  }
  walk(null, 0)
  return rows
}

/** The locations that match the text, and their ancestors. */
export function filterTree(locations: readonly LocationCount[], text: string): readonly LocationCount[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return locations
  const byId = new Map(locations.map((one) => [one.location_id, one]))
  const kept = new Set<number>()
  for (const location of locations) {
    if (!`${location.name}\n${location.external_key}`.toLowerCase().includes(wanted)) continue
    for (let one: LocationCount | undefined = location; one !== undefined && !kept.has(one.location_id);) {
      kept.add(one.location_id)
      one = one.parent_id === null ? undefined : byId.get(one.parent_id)
    }
  }
  return locations.filter((one) => kept.has(one.location_id))
}
