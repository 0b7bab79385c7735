import { maxTreeLevels, tooManyLevels } from '../locations/location.ts'
import type { LineError } from './import-row.ts'

/** The position in the tree of a row that creates or changes a location. */
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

interface OrderedPlacements {
  /** Each level can be written when the levels before it are written. */
  levels: Placement[][]
  errors: LineError[]
}

const parentError = (line: number, message: string): LineError => ({ line, field: 'parent_external_key', message })

/**
 * Validates and orders the locations of a file: each parent must exist or be in the file, and the tree must stay free of
 * cycles. When a row is rejected, the rows whose parent it creates are rejected too.
 */
export function orderByParent(changes: readonly Placement[], tree: Tree): OrderedPlacements {
  const errors: LineError[] = []
  let remaining = new Map(changes.map((change) => [change.externalKey, change]))
  for (;;) {
    const rejected = [...missingParents(remaining, tree), ...findCycles(remaining, tree)]
    if (rejected.length === 0) rejected.push(...tooDeep(remaining, tree))
    if (rejected.length === 0) break
    errors.push(...rejected)
    const lines = new Set(rejected.map((error) => error.line))
    remaining = new Map([...remaining].filter(([, change]) => !lines.has(change.line)))
  }
  errors.sort((a, b) => a.line - b.line)
  return { levels: topologicalLevels(remaining), errors }
}

function missingParents(remaining: ReadonlyMap<string, Placement>, tree: Tree): LineError[] {
  return [...remaining.values()].flatMap(({ line, parentKey }) =>
    parentKey === null || tree.has(parentKey) || remaining.has(parentKey)
      ? []
      : [parentError(line, 'parent_external_key does not name a location')],
  )
}

/** The parent of each location after the import, by key. */
function parentsAfter(remaining: ReadonlyMap<string, Placement>, tree: Tree): (key: string) => string | null {
  return (key) => {
    const change = remaining.get(key)
    return (change === undefined ? tree.get(key)?.parentKey : change.parentKey) ?? null
  }
}

/** Rejects the rows that create or move a location so that it, or one of its descendants, exceeds the maximum depth. */
function tooDeep(remaining: ReadonlyMap<string, Placement>, tree: Tree): LineError[] {
  const parentOf = parentsAfter(remaining, tree)
  const levels = new Map<string, number>()
  const lines = new Set<number>()
  for (const start of new Set([...tree.keys(), ...remaining.keys()])) {
    const path: string[] = []
    let key: string | null = start
    for (; key !== null && !levels.has(key); key = parentOf(key)) path.push(key)
    let level = key === null ? 0 : levels.get(key)!
    for (const one of path.reverse()) levels.set(one, ++level)
    if (level <= maxTreeLevels) continue
    let moved: string | null = start
    while (moved !== null && remaining.get(moved)?.isMoved !== true) moved = parentOf(moved)
    if (moved !== null) lines.add(remaining.get(moved)!.line)
  }
  return [...lines].map((line) => parentError(line, tooManyLevels))
}

/** Walks up from each changed location and rejects the locations that are part of a cycle. */
function findCycles(remaining: ReadonlyMap<string, Placement>, tree: Tree): LineError[] {
  const parentOf = parentsAfter(remaining, tree)
  const visited = new Set<string>()
  const errors: LineError[] = []
  for (const start of remaining.keys()) {
    const path: string[] = []
    const onPath = new Set<string>()
    let key: string | null = start
    while (key !== null && !visited.has(key) && !onPath.has(key)) {
      path.push(key)
      onPath.add(key)
      key = parentOf(key)
    }
    if (key !== null && onPath.has(key))
      for (const member of path.slice(path.indexOf(key))) {
        const change = remaining.get(member)
        const message = 'A location cannot be placed inside itself or one of its descendants'
        if (change !== undefined) errors.push(parentError(change.line, message))
      }
    for (const one of path) visited.add(one)
  }
  return errors
}

/** The locations whose parent exists already, then those whose parent is in the first level, and so on. */
function topologicalLevels(remaining: ReadonlyMap<string, Placement>): Placement[][] {
  const depths = new Map<string, number>()
  const levels: Placement[][] = []
  for (const start of remaining.values()) {
    const path: Placement[] = []
    let node: Placement | undefined = start
    while (node !== undefined && !depths.has(node.externalKey)) {
      path.push(node)
      const parent: Placement | undefined = remaining.get(node.parentKey ?? '')
      node = parent?.isNew === true ? parent : undefined
    }
    let depth = node === undefined ? 0 : depths.get(node.externalKey)! + 1
    for (const change of path.reverse()) {
      depths.set(change.externalKey, depth)
      const level = (levels[depth] ??= [])
      level.push(change)
      depth++
    }
  }
  return levels
}
