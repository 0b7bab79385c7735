import type { Asset } from '../assets/asset.ts'
import { assetBulk } from '../assets/bulk.sql.ts'
import type { Tx } from '../db/database.ts'
import { Overtaken } from '../db/violations.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { holdParents, locationBulk, treeOf } from '../locations/bulk.sql.ts'
import type { Location } from '../locations/location.ts'
import { lockTree } from '../locations/tree.sql.ts'
import { type IdPool, Writer } from './apply.ts'
import { type Change, type Claims, type Imported, type Maker, evaluate } from './evaluate.ts'
import { type ImportKind, type Tally, type WantedRow, emptyTally, noteErrors, readRow } from './import.ts'
import { stagedRows } from './imports.sql.ts'
import { plant } from './tree.ts'

const assets: Maker<Asset> = {
  store: assetBulk,
  make: (core, row) => ({ ...core, metadata: row.metadata ?? {}, type: 'asset' }),
  complete: (asset) => asset,
  holds: (tag, id) => tag.assetId === id,
}

const locations: Maker<Location> = {
  store: locationBulk,
  make: (core, row) => ({ ...core, parentId: null, parentKey: row.parentKey ?? null }),
  complete: (location, row) => (row.parentKey === undefined ? location : { ...location, parentKey: row.parentKey }),
  holds: (tag, id) => tag.locationId === id,
}

/** Many, because a batch reads its rows from tables about which the planner knows nothing yet. */
const atOnce = 4000

export interface Work {
  tx: Tx
  orgId: number
  importId: number
  clock: Clock
  /** Told after every batch; throws to stop. */
  progress: (rows: number) => void
  /** Null when the rows are only checked. */
  ids: IdPool | null
}

/** Looks at every row of an import and, when it is to run, writes what the good ones say. */
export const workThrough = (kind: ImportKind, work: Work): Promise<Tally> =>
  kind === 'assets' ? importAssets(work) : importLocations(work)

async function importAssets(work: Work): Promise<Tally> {
  const tally = emptyTally()
  const writer = writerOf(work, assets)
  await eachBatch(work, 'assets', assets, tally, async (changes) => {
    count(tally, changes)
    await writer?.write(changes)
  })
  await writer?.finish(now(work.clock))
  return tally
}

/** The tree is one thing: it is settled over all rows before the first is written. */
async function importLocations(work: Work): Promise<Tally> {
  const { tx, orgId, ids } = work
  const tally = emptyTally()
  const all: Change<Location>[] = []
  if (ids !== null) await lockTree(tx, orgId)
  await eachBatch(work, 'locations', locations, tally, async (changes) => void all.push(...changes))
  const tree = await treeOf(tx, orgId)
  const { levels, errors } = plant(all, tree)
  const changes = levels.flat()
  noteErrors(tally, errors)
  count(tally, changes)
  const writer = writerOf(work, locations)
  if (writer === null) return tally

  const known = new Map([...tree].map(([key, { id }]) => [key, id]))
  const parents = new Set(changes.flatMap(({ record }) => known.get(record.parentKey ?? '') ?? []))
  if ((await holdParents(tx, orgId, [...parents])) < parents.size) throw new Overtaken('a parent was deleted meanwhile')
  for (const level of levels)
    for (let start = 0; start < level.length; start += atOnce) {
      const some = level.slice(start, start + atOnce)
      const placed = some.map((change) => ({ ...change, record: withParent(change.record, known) }))
      for (const [key, id] of await writer.write(placed)) known.set(key, id)
    }
  await writer.finish(now(work.clock))
  return tally
}

const withParent = (location: Location, known: ReadonlyMap<string, number>): Location => ({
  ...location,
  parentId: location.parentKey === null ? null : known.get(location.parentKey)!,
})

function writerOf<R extends Imported>({ tx, orgId, ids, clock }: Work, maker: Maker<R>): Writer<R> | null {
  return ids === null ? null : new Writer(tx, orgId, maker, ids, clock)
}

function count(tally: Tally, changes: readonly Change<unknown>[]): void {
  const creates = changes.filter((change) => change.current === null).length
  tally.creates += creates
  tally.updates += changes.length - creates
}

async function eachBatch<R extends Imported>(
  work: Work,
  kind: ImportKind,
  maker: Maker<R>,
  tally: Tally,
  take: (changes: Change<R>[]) => Promise<void>,
): Promise<void> {
  const { tx, orgId, importId, ids, clock } = work
  const claims: Claims = { keys: new Map(), tags: new Map() }
  let done = 0
  for (let after = 0; ;) {
    const staged = await stagedRows(tx, orgId, importId, after, atOnce)
    if (staged.length === 0) return
    const wanted: WantedRow[] = []
    for (const one of staged) {
      const row = readRow(kind, one)
      if (Array.isArray(row)) noteErrors(tally, row)
      else wanted.push(row)
    }
    const keys = wanted.map((row) => row.externalKey)
    if (ids !== null) await maker.store.lock(tx, orgId, keys)
    const outcome = await evaluate(tx, orgId, maker, wanted, claims, now(clock))
    noteErrors(tally, outcome.errors)
    tally.unchanged += outcome.unchanged
    await take(outcome.changes)
    done += staged.length
    work.progress(done)
    after = staged.at(-1)!.line
  }
}
