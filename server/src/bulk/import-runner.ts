import type { Asset } from '../assets/asset.ts'
import { assetBulk } from '../assets/bulk.sql.ts'
import type { Tx } from '../db/database.ts'
import { SerializationConflictError } from '../db/constraint-errors.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { quotaReached } from '../kernel/quota.ts'
import { inSlices, mapSteps } from '../kernel/slices.ts'
import { lockParentsForShare, locationBulk, treeOf } from '../locations/bulk.sql.ts'
import type { Location } from '../locations/location.ts'
import { lockTree } from '../locations/tree.sql.ts'
import { type IdPool, ImportWriter } from './import-writer.ts'
import { type Change, type EarlierRows, type Imported, type ImportAdapter, evaluate } from './import-evaluator.ts'
import {
  type CollectedResult,
  type ImportKind,
  type ImportMode,
  type ImportResult,
  type WantedRow,
  emptyResult,
  noteErrors,
  readRow,
} from './import-row.ts'
import { type SizedRow, toBatches, stagedRows, stagedRowsAt } from './imports.sql.ts'
import { type Placement, orderByParent } from './location-tree.ts'

const assets: ImportAdapter<Asset> = {
  repository: assetBulk,
  make: (base, row) => ({ ...base, metadata: row.metadata ?? {}, type: 'asset' }),
  complete: (asset) => asset,
  holds: (tag, id) => tag.assetId === id,
}

const locations: ImportAdapter<Location> = {
  repository: locationBulk,
  make: (base, row) => ({ ...base, parentId: null, parentKey: row.parentKey ?? null }),
  complete: (location, row) => (row.parentKey === undefined ? location : { ...location, parentKey: row.parentKey }),
  holds: (tag, id) => tag.locationId === id,
}

export interface ImportRun {
  tx: Tx
  orgId: number
  importId: number
  clock: Clock
  mode: ImportMode
  /** Called after every batch with the number of rows done; throws to abort the import. */
  progress: (rows: number) => void
  /** Null when the rows are only checked. */
  ids: IdPool | null
  /** The number of records that the organization may still create. */
  room: { left: number; limit: number }
}

/** Checks every row of an import and, in a run, writes the valid ones. The errors are sorted by line. */
export async function runImport(kind: ImportKind, work: ImportRun): Promise<ImportResult> {
  const result = await (kind === 'assets' ? importAssets(work) : importLocations(work))
  result.errors.sort((a, b) => a.line - b.line)
  return result
}

async function importAssets(work: ImportRun): Promise<ImportResult> {
  const result = emptyResult()
  const writer = writerOf(work, assets)
  await eachBatch(work, 'assets', assets, result, async (changes) => {
    count(result, changes)
    if (writer === null) return
    enforceQuota(work, 'assets', result)
    await writer.write(changes)
  })
  enforceQuota(work, 'assets', result)
  await writer?.finish(now(work.clock))
  return result
}

/**
 * The tree is resolved over all rows before the first one is written. Until then only the position in the tree of each row
 * is kept in memory; the rows are read again when they are written.
 */
async function importLocations(work: ImportRun): Promise<ImportResult> {
  const { tx, orgId, ids } = work
  const result = emptyResult()
  const all: Placement[] = []
  if (ids !== null) await lockTree(tx, orgId)
  // In a run, each row counts half when its place in the tree is known, and half when it is written.
  const checking = ids === null ? work : { ...work, progress: (done: number) => work.progress(Math.floor(done / 2)) }
  const rows = await eachBatch(checking, 'locations', locations, result, async (changes, staged) => {
    const sizes = new Map(staged.map(({ line, bytes }) => [line, bytes]))
    for (const change of changes) all.push(placementOf(change, sizes.get(change.line)!))
  })
  const tree = await treeOf(tx, orgId)
  const { levels, errors } = await orderByParent(all, tree)
  const placements = levels.flat()
  noteErrors(result, errors)
  result.creates = placements.filter(({ isNew }) => isNew).length
  result.updates = placements.length - result.creates
  enforceQuota(work, 'locations', result)
  const writer = writerOf(work, locations)
  if (writer === null) return result

  const idsByKey = new Map([...tree].map(([key, { id }]) => [key, id]))
  const parents = new Set(placements.flatMap(({ parentKey }) => idsByKey.get(parentKey ?? '') ?? []))
  if ((await lockParentsForShare(tx, orgId, [...parents])) < parents.size)
    throw new SerializationConflictError('a parent was deleted meanwhile')
  let written = 0
  for (const level of levels)
    for (const batch of toBatches(level)) {
      for (const [key, id] of await writer.write(await changesOf(work, batch, idsByKey))) idsByKey.set(key, id)
      written += batch.length
      work.progress(Math.floor((rows * (1 + written / placements.length)) / 2))
    }
  await writer.finish(now(work.clock))
  return result
}

const placementOf = ({ line, record, current }: Change<Location>, bytes: number): Placement => ({
  line,
  bytes,
  externalKey: record.externalKey,
  parentKey: record.parentKey,
  isNew: current === null,
  isMoved: current?.parentKey !== record.parentKey,
})

/** The changes of a batch of rows, evaluated in the same way as when the tree was resolved. */
async function changesOf(
  { tx, orgId, importId, clock, mode }: ImportRun,
  batch: readonly Placement[],
  idsByKey: ReadonlyMap<string, number>,
): Promise<Change<Location>[]> {
  const staged = await stagedRowsAt(
    tx,
    orgId,
    importId,
    batch.map(({ line }) => line),
  )
  const wanted = staged.flatMap((staged) => {
    const row = readRow('locations', staged)
    return Array.isArray(row) ? [] : [row]
  })
  const { changes } = await evaluate(tx, orgId, locations, wanted, noEarlierRows(), now(clock), mode)
  if (changes.length < batch.length)
    throw new SerializationConflictError('a location or a tag was changed while the import ran')
  return changes.map((change) => ({ ...change, record: withParent(change.record, idsByKey) }))
}

const withParent = (location: Location, idsByKey: ReadonlyMap<string, number>): Location => ({
  ...location,
  parentId: location.parentKey === null ? null : idsByKey.get(location.parentKey)!,
})

/** A check reports an exceeded quota as an error; a run is aborted. */
function enforceQuota({ ids, room }: ImportRun, kind: ImportKind, result: CollectedResult): void {
  if (result.creates <= room.left) return
  const error = quotaReached(kind, room.limit)
  if (ids !== null) throw error
  noteErrors(result, [{ line: 0, field: '', message: error.message }])
}

function writerOf<R extends Imported>(
  { tx, orgId, ids, clock }: ImportRun,
  adapter: ImportAdapter<R>,
): ImportWriter<R> | null {
  return ids === null ? null : new ImportWriter(tx, orgId, adapter, ids, clock)
}

function count(result: ImportResult, changes: readonly Change<unknown>[]): void {
  const creates = changes.filter((change) => change.current === null).length
  result.creates += creates
  result.updates += changes.length - creates
}

const noEarlierRows = (): EarlierRows => ({ keys: new Map(), tags: new Map() })

/** Evaluates the staged rows in batches. Returns the number of rows. */
async function eachBatch<R extends Imported>(
  work: ImportRun,
  kind: ImportKind,
  adapter: ImportAdapter<R>,
  result: CollectedResult,
  onChanges: (changes: Change<R>[], staged: readonly SizedRow[]) => Promise<void>,
): Promise<number> {
  const { tx, orgId, importId, ids, clock, mode } = work
  const earlier = noEarlierRows()
  let done = 0
  for (let after = 0; ;) {
    const staged = await stagedRows(tx, orgId, importId, after)
    if (staged.length === 0) return done
    const wanted: WantedRow[] = []
    for (const row of await inSlices(mapSteps(staged, (one) => readRow(kind, one))))
      if (Array.isArray(row)) noteErrors(result, row)
      else wanted.push(row)
    const keys = wanted.map((row) => row.externalKey)
    if (ids !== null) await adapter.repository.lock(tx, orgId, keys)
    const outcome = await evaluate(tx, orgId, adapter, wanted, earlier, now(clock), mode)
    noteErrors(result, outcome.errors)
    result.unchanged += outcome.unchanged
    await onChanges(outcome.changes, staged)
    done += staged.length
    work.progress(done)
    after = staged.at(-1)!.line
  }
}
