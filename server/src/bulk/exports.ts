import type { Asset } from '../assets/asset.ts'
import { assetBatch } from '../assets/assets.sql.ts'
import type { Db } from '../db/database.ts'
import { type Instant, formatMillis, instantFromMillis, microsecondsBetween } from '../kernel/instant.ts'
import { toJsonText } from '../kernel/json.ts'
import type { Location } from '../locations/location.ts'
import { locationBatch } from '../locations/locations.sql.ts'
import type { BaseRecord } from '../records/record.ts'
import {
  type HistoryCursor,
  type HistoryFilter,
  type HistoryLine,
  type MoveCursor,
  type PositionFilter,
  type PositionLine,
  assetsSeenWithin,
  historyBatch,
  moveBatch,
  positionBatch,
} from '../tracking/history/export.sql.ts'
import type { RecordedMove } from '../tracking/moves.sql.ts'
import { byteOrderMark, csvLine } from './csv.ts'
import { exportColumns } from './csv-table.ts'

/** The rows of the first batch, and of the largest one. */
const [minBatchRows, maxBatchRows] = [20, 200]

/** The columns of a CSV file and the cells of each row; null is an empty cell. */
export interface Table<Row> {
  columns: readonly string[]
  cells: (row: Row) => readonly (string | null)[]
}

type Batches<Row> = AsyncGenerator<Row[], void, undefined>

/**
 * Reads rows in batches, by id, until one is empty. `next` returns at most `maxRows` rows after a cursor, and fewer when they
 * are large. A batch has at most twice the rows of the one before, so that a statement does not read many large rows in vain.
 */
async function* inBatches<Row, Cursor>(
  start: Cursor,
  next: (after: Cursor, maxRows: number) => Promise<Row[]>,
  cursorOf: (row: Row) => Cursor,
): Batches<Row> {
  let maxRows = minBatchRows
  for (let cursor = start; ;) {
    const rows = await next(cursor, maxRows)
    yield rows
    if (rows.length === 0) return
    cursor = cursorOf(rows.at(-1)!)
    maxRows = Math.min(maxBatchRows, 2 * rows.length)
  }
}

/** The rows as a CSV file, generated while they are read. */
export async function* toCsv<Row>(table: Table<Row>, batches: AsyncIterable<Row[]>): AsyncGenerator<string> {
  let text = byteOrderMark + csvLine(table.columns)
  for await (const rows of batches) {
    yield text + rows.map((row) => csvLine(table.cells(row))).join('')
    text = ''
  }
}

/** The rows as newline-delimited JSON, generated while they are read. */
export async function* toNdjson<Row>(
  present: (row: Row) => object,
  batches: AsyncIterable<Row[]>,
): AsyncGenerator<string> {
  for await (const rows of batches) yield rows.map((row) => `${toJsonText(present(row))}\n`).join('')
}

const formatOptional = (at: Instant | null): string | null => (at === null ? null : formatMillis(at))

/** One tag per line of the cell; values contain no line breaks. */
const tagsCell = ({ tags }: BaseRecord): string | null =>
  tags.length === 0 ? null : tags.map((tag) => `${tag.type}:${tag.value}`).join('\n')

const stateCells = (record: BaseRecord): (string | null)[] => [
  String(record.isActive),
  formatMillis(record.validFrom),
  formatOptional(record.validTo),
  tagsCell(record),
]

/** Every live asset, or those with these ids, regardless of their period of validity. */
export const assetRows = (db: Db, orgId: number, ids?: readonly number[]): Batches<Asset> =>
  inBatches(
    0,
    (after, maxRows) => assetBatch(db, orgId, { after, maxRows }, ids),
    (asset) => asset.id,
  )

export const assetTable: Table<Asset> = {
  columns: exportColumns.assets,
  cells: (one) => [one.externalKey, one.name, one.description, toJsonText(one.metadata), ...stateCells(one)],
}

export const locationRows = (db: Db, orgId: number): Batches<Location> =>
  inBatches(
    0,
    (after, maxRows) => locationBatch(db, orgId, { after, maxRows }),
    (location) => location.id,
  )

export const locationTable: Table<Location> = {
  columns: exportColumns.locations,
  cells: (one) => [one.externalKey, one.name, one.description, one.parentKey, ...stateCells(one)],
}

const beforeAllMinutes: HistoryCursor = { assetId: 0, minute: instantFromMillis(0) }

const dayMicroseconds = 86_400_000_000

/** In a period with fewer minutes, the assets that were seen are read first, this many at a time. */
const maxMinutesBySighting = 20_000
const assetsAtATime = 1000

/** The assets whose history is read, in groups; undefined is every asset. */
async function historyGroups(db: Db, orgId: number, filter: HistoryFilter): Promise<(readonly number[] | undefined)[]> {
  const { assetIds, from, to } = filter
  const isShort = from !== undefined && to !== undefined && microsecondsBetween(from, to) < dayMicroseconds
  const seen =
    assetIds === undefined && isShort ? await assetsSeenWithin(db, orgId, filter, maxMinutesBySighting) : null
  if (seen === null) return [assetIds]
  const groups = [seen.slice(0, assetsAtATime)]
  for (let start = assetsAtATime; start < seen.length; start += assetsAtATime)
    groups.push(seen.slice(start, start + assetsAtATime))
  return groups
}

/**
 * One row per recorded minute of every live asset, or of the given assets. The history is stored by asset, so a short period
 * in which few assets were seen would be searched for in the history of all.
 */
export async function* historyRows(db: Db, orgId: number, filter: HistoryFilter): Batches<HistoryLine> {
  for (const assetIds of await historyGroups(db, orgId, filter))
    yield* inBatches(
      beforeAllMinutes,
      (after: HistoryCursor, maxRows) => historyBatch(db, orgId, { ...filter, assetIds }, after, maxRows),
      ({ assetId, minute }) => ({ assetId, minute }),
    )
}

export const historyTable: Table<HistoryLine> = {
  columns: [
    'asset_external_key',
    'asset_name',
    'event_observed_at',
    'location_external_key',
    'location_name',
    'duration_seconds',
  ],
  cells: (row) => [
    row.assetKey,
    row.assetName,
    formatMillis(row.observedAt),
    row.locationKey,
    row.locationName,
    row.durationSeconds === null ? null : String(row.durationSeconds),
  ],
}

/** Every move that occurred in a period, oldest first. */
export const moveRows = (
  db: Db,
  orgId: number,
  period: { from?: Instant | undefined; to?: Instant | undefined },
): Batches<RecordedMove> =>
  inBatches(
    null,
    (after: MoveCursor | null, maxRows) => moveBatch(db, orgId, period, after, maxRows),
    ({ occurredAt, deliveryId }) => ({ occurredAt, deliveryId }),
  )

export const moveTable: Table<RecordedMove> = {
  columns: [
    'delivery_id',
    'occurred_at',
    'asset_external_key',
    'asset_name',
    'from_location_id',
    'from_location_name',
    'to_location_id',
    'to_location_name',
  ],
  cells: (move) => [
    move.deliveryId,
    formatMillis(move.occurredAt),
    move.assetKey,
    move.assetName,
    move.from === null ? null : String(move.from.id),
    move.from === null ? null : move.from.name,
    String(move.to.id),
    move.to.name,
  ],
}

/** The location of every scanned asset that the filter selects; an asset that was not seen by then has no row. */
export async function* positionRows(db: Db, orgId: number, filter: PositionFilter): Batches<PositionLine> {
  const batches = inBatches(
    0,
    (after, maxRows) => positionBatch(db, orgId, filter, after, maxRows),
    (row: PositionLine) => row.assetId,
  )
  for await (const rows of batches) yield rows.filter(({ lastSeenAt }) => lastSeenAt !== null)
}

export const positionTable: Table<PositionLine> = {
  columns: ['asset_external_key', 'asset_name', 'location_external_key', 'location_name', 'last_seen_at'],
  cells: (row) => [row.assetKey, row.assetName, row.locationKey, row.locationName, formatOptional(row.lastSeenAt)],
}
