import { inSlices, sortSteps } from '../kernel/slices.ts'
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

type Steps<Result> = Generator<void, Result, void>

/** Rejects the given locations, and those that would be created below them. */
type Reject = (rejected: readonly Placement[], message: string) => Steps<void>

const missingParent = 'parent_external_key does not name a location'
const insideItself = 'A location cannot be placed inside itself or one of its descendants'
const tooManyRejected = 'The location cannot be moved, because too many other locations of the file are rejected'

/**
 * A rejected move leaves the location where it is, which can make other moves invalid. After this many rounds all other
 * moves are rejected, so that no file takes longer than that.
 */
const maxRounds = 10

/**
 * Validates and orders the locations of a file: each parent must exist or be in the file, and the tree must stay free of
 * cycles. When a row is rejected, the rows whose parent it creates are rejected too. Other requests run meanwhile.
 */
export const orderByParent = (changes: readonly Placement[], tree: Tree): Promise<OrderedPlacements> =>
  inSlices(orderSteps(changes, tree))

function* orderSteps(changes: readonly Placement[], tree: Tree): Steps<OrderedPlacements> {
  const remaining = new Map<string, Placement>()
  for (const change of changes) {
    remaining.set(change.externalKey, change)
    yield
  }
  const { childrenOf, orphans } = yield* findChildren(changes, remaining, tree)
  const errors: LineError[] = []
  const reject: Reject = function* (rejected, message) {
    const parents: Placement[] = []
    const remove = (change: Placement, reason: string): void => {
      if (!remaining.delete(change.externalKey)) return
      errors.push({ line: change.line, field: 'parent_external_key', message: reason })
      parents.push(change)
    }
    for (const change of rejected) {
      remove(change, message)
      yield
    }
    for (let parent = parents.pop(); parent !== undefined; parent = parents.pop())
      for (const child of childrenOf.get(parent.externalKey) ?? []) {
        remove(child, missingParent)
        yield
      }
  }
  yield* reject(orphans, missingParent)
  for (let round = 1; ; round++) {
    const inCycles = yield* findCycles(remaining, tree)
    const deep = inCycles.length > 0 ? [] : yield* findTooDeep(remaining, tree)
    if (inCycles.length + deep.length === 0) break
    yield* reject(inCycles, insideItself)
    yield* reject(deep, tooManyLevels)
    if (round === maxRounds)
      yield* reject(
        [...remaining.values()].filter(({ isNew, isMoved }) => isMoved && !isNew),
        tooManyRejected,
      )
  }
  return {
    levels: yield* topologicalLevels(remaining),
    errors: yield* sortSteps(errors, (a, b) => a.line - b.line),
  }
}

/** The rows below each location that the file creates, and the rows whose parent neither exists nor is created. */
function* findChildren(
  changes: readonly Placement[],
  remaining: ReadonlyMap<string, Placement>,
  tree: Tree,
): Steps<{ childrenOf: ReadonlyMap<string, Placement[]>; orphans: Placement[] }> {
  const childrenOf = new Map<string, Placement[]>()
  const orphans: Placement[] = []
  for (const change of changes) {
    yield
    const { parentKey } = change
    if (parentKey === null || tree.has(parentKey)) continue
    const siblings = childrenOf.get(parentKey)
    if (!remaining.has(parentKey)) orphans.push(change)
    else if (siblings === undefined) childrenOf.set(parentKey, [change])
    else siblings.push(change)
  }
  return { childrenOf, orphans }
}

/** The parent of each location after the import, by key. */
function parentsAfter(remaining: ReadonlyMap<string, Placement>, tree: Tree): (key: string) => string | null {
  return (key) => {
    const change = remaining.get(key)
    return (change === undefined ? tree.get(key)?.parentKey : change.parentKey) ?? null
  }
}

/** Finds the rows that create or move a location so that it, or one of its descendants, exceeds the maximum depth. */
function* findTooDeep(remaining: ReadonlyMap<string, Placement>, tree: Tree): Steps<Placement[]> {
  const parentOf = parentsAfter(remaining, tree)
  const levels = new Map<string, number>()
  const found = new Set<Placement>()
  for (const starts of [tree.keys(), remaining.keys()])
    for (const start of starts) {
      yield
      const path: string[] = []
      let key: string | null = start
      for (; key !== null && !levels.has(key); key = parentOf(key)) {
        path.push(key)
        yield
      }
      let level = key === null ? 0 : levels.get(key)!
      for (const one of path.reverse()) {
        levels.set(one, ++level)
        yield
      }
      if (level <= maxTreeLevels) continue
      let moved: string | null = start
      while (moved !== null && remaining.get(moved)?.isMoved !== true) moved = parentOf(moved)
      if (moved !== null) found.add(remaining.get(moved)!)
    }
  return [...found]
}

/** Walks up from each changed location and finds the rows of locations that are part of a cycle. */
function* findCycles(remaining: ReadonlyMap<string, Placement>, tree: Tree): Steps<Placement[]> {
  const parentOf = parentsAfter(remaining, tree)
  const visited = new Set<string>()
  const found: Placement[] = []
  for (const start of remaining.keys()) {
    yield
    const path: string[] = []
    const onPath = new Set<string>()
    let key: string | null = start
    while (key !== null && !visited.has(key) && !onPath.has(key)) {
      path.push(key)
      onPath.add(key)
      key = parentOf(key)
      yield
    }
    const cycleStart = key !== null && onPath.has(key) ? path.indexOf(key) : path.length
    for (const [index, one] of path.entries()) {
      visited.add(one)
      const change = index < cycleStart ? undefined : remaining.get(one)
      if (change !== undefined) found.push(change)
      yield
    }
  }
  return found
}

/** The locations whose parent exists already, then those whose parent is in the first level, and so on. */
function* topologicalLevels(remaining: ReadonlyMap<string, Placement>): Steps<Placement[][]> {
  const depths = new Map<string, number>()
  const levels: Placement[][] = []
  for (const start of remaining.values()) {
    yield
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
