import { maxTreeLevels, tooManyLevels } from '../locations/location.ts'
import type { LineError } from './import-row.ts'

/** What the tree has to know of a row that creates or changes a location. */
export interface Placement {
  line: number
  /** The size of the row. */
  bytes: number
  externalKey: string
  parentKey: string | null
  isNew: boolean
  /** Whether the row creates the location or gives it another parent. */
  isMoved: boolean
}

type Tree = ReadonlyMap<string, { id: number; parentKey: string | null }>

interface Planted {
  /** Each holds what can be written once the ones before it are. */
  levels: Placement[][]
  errors: LineError[]
}

const refusal = (line: number, message: string): LineError => ({ line, field: 'parent_external_key', message })

/**
 * Settles where the locations of a file go: each parent must be there or come with the file, and nothing may end up
 * inside itself. A row that is refused takes along those that hang on it.
 */
export function orderByParent(changes: readonly Placement[], tree: Tree): Planted {
  const errors: LineError[] = []
  let left = new Map(changes.map((change) => [change.externalKey, change]))
  for (;;) {
    const refused = [...missingParents(left, tree), ...circular(left, tree)]
    if (refused.length === 0) refused.push(...tooDeep(left, tree))
    if (refused.length === 0) break
    errors.push(...refused)
    const lines = new Set(refused.map((error) => error.line))
    left = new Map([...left].filter(([, change]) => !lines.has(change.line)))
  }
  errors.sort((a, b) => a.line - b.line)
  return { levels: topologicalLevels(left), errors }
}

function missingParents(left: ReadonlyMap<string, Placement>, tree: Tree): LineError[] {
  return [...left.values()].flatMap(({ line, parentKey }) =>
    parentKey === null || tree.has(parentKey) || left.has(parentKey)
      ? []
      : [refusal(line, 'parent_external_key does not name a location')],
  )
}

/** Where each location would hang, by key. */
function parentsAfter(left: ReadonlyMap<string, Placement>, tree: Tree): (key: string) => string | null {
  return (key) => {
    const change = left.get(key)
    return (change === undefined ? tree.get(key)?.parentKey : change.parentKey) ?? null
  }
}

/** Refuses the rows that create or move a location so that it, or one that lies below it, is below the last level. */
function tooDeep(left: ReadonlyMap<string, Placement>, tree: Tree): LineError[] {
  const parentOf = parentsAfter(left, tree)
  const levels = new Map<string, number>()
  const lines = new Set<number>()
  for (const start of new Set([...tree.keys(), ...left.keys()])) {
    const trail: string[] = []
    let key: string | null = start
    for (; key !== null && !levels.has(key); key = parentOf(key)) trail.push(key)
    let level = key === null ? 0 : levels.get(key)!
    for (const one of trail.reverse()) levels.set(one, ++level)
    if (level <= maxTreeLevels) continue
    let moved: string | null = start
    while (moved !== null && left.get(moved)?.isMoved !== true) moved = parentOf(moved)
    if (moved !== null) lines.add(left.get(moved)!.line)
  }
  return [...lines].map((line) => refusal(line, tooManyLevels))
}

/** Walks up from each changed location; what meets its own trail stands in a circle. */
function circular(left: ReadonlyMap<string, Placement>, tree: Tree): LineError[] {
  const parentOf = parentsAfter(left, tree)
  const settled = new Set<string>()
  const errors: LineError[] = []
  for (const start of left.keys()) {
    const trail: string[] = []
    const onTrail = new Set<string>()
    let key: string | null = start
    while (key !== null && !settled.has(key) && !onTrail.has(key)) {
      trail.push(key)
      onTrail.add(key)
      key = parentOf(key)
    }
    if (key !== null && onTrail.has(key))
      for (const member of trail.slice(trail.indexOf(key))) {
        const change = left.get(member)
        const message = 'A location cannot be placed inside itself or one of its descendants'
        if (change !== undefined) errors.push(refusal(change.line, message))
      }
    for (const one of trail) settled.add(one)
  }
  return errors
}

/** Those whose parent is there already, then those whose parent is among the first, and so on. */
function topologicalLevels(left: ReadonlyMap<string, Placement>): Placement[][] {
  const depths = new Map<string, number>()
  const levels: Placement[][] = []
  for (const start of left.values()) {
    const trail: Placement[] = []
    let at: Placement | undefined = start
    while (at !== undefined && !depths.has(at.externalKey)) {
      trail.push(at)
      const parent: Placement | undefined = left.get(at.parentKey ?? '')
      at = parent?.isNew === true ? parent : undefined
    }
    let depth = at === undefined ? 0 : depths.get(at.externalKey)! + 1
    for (const change of trail.reverse()) {
      depths.set(change.externalKey, depth)
      const level = (levels[depth] ??= [])
      level.push(change)
      depth++
    }
  }
  return levels
}
