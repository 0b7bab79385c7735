import { assetBatch } from '../assets/assets.sql.ts'
import type { Db } from '../db/database.ts'
import { type Instant, formatMillis, instantFromMillis } from '../kernel/instant.ts'
import { locationBatch } from '../locations/locations.sql.ts'
import type { RecordCore } from '../records/record.ts'
import { type HistoryCursor, historyBatch, positionBatch } from '../tracking/export.sql.ts'
import { byteOrderMark, csvLine } from './csv.ts'

/** The number of rows in memory per export; each may have up to 64 KiB of metadata. */
const batchSize = 200

const formatOptional = (at: Instant | null): string | null => (at === null ? null : formatMillis(at))

/** One tag per line of the cell; values contain no line breaks. */
const tagsCell = ({ tags }: RecordCore): string | null =>
  tags.length === 0 ? null : tags.map((tag) => `${tag.type}:${tag.value}`).join('\n')

const stateCells = (record: RecordCore): (string | null)[] => [
  String(record.isActive),
  formatMillis(record.validFrom),
  formatOptional(record.validTo),
  tagsCell(record),
]

const stateColumns = ['is_active', 'valid_from', 'valid_to', 'tags']

/**
 * Streams a file in batches, ordered by id. Each batch is a separate query, so no transaction stays open during a slow
 * download; a record that exists the whole time appears exactly once. `next` returns the lines after a cursor and the next
 * cursor, null at the end.
 */
async function* inBatches<Cursor>(
  columns: readonly string[],
  start: Cursor,
  next: (after: Cursor) => Promise<{ lines: string[]; cursor: Cursor | null }>,
): AsyncGenerator<string> {
  let text = byteOrderMark + csvLine(columns)
  for (let cursor: Cursor | null = start; cursor !== null;) {
    const batch = await next(cursor)
    yield text + batch.lines.join('')
    text = ''
    cursor = batch.cursor
  }
}

const cursorAfter = <Row, Cursor>(rows: readonly Row[], cursorOf: (row: Row) => Cursor): Cursor | null =>
  rows.length < batchSize ? null : cursorOf(rows.at(-1)!)

/** Every live asset, or those with these ids, regardless of their period of validity. */
export const exportAssets = (db: Db, orgId: number, ids?: readonly number[]): AsyncGenerator<string> =>
  inBatches(['external_key', 'name', 'description', 'metadata', ...stateColumns], 0, async (after: number) => {
    const assets = await assetBatch(db, orgId, after, batchSize, ids)
    const lines = assets.map((one) =>
      csvLine([one.externalKey, one.name, one.description, JSON.stringify(one.metadata), ...stateCells(one)]),
    )
    return { lines, cursor: cursorAfter(assets, (one) => one.id) }
  })

export const exportLocations = (db: Db, orgId: number): AsyncGenerator<string> =>
  inBatches(
    ['external_key', 'name', 'description', 'parent_external_key', ...stateColumns],
    0,
    async (after: number) => {
      const locations = await locationBatch(db, orgId, after, batchSize)
      const lines = locations.map((one) =>
        csvLine([one.externalKey, one.name, one.description, one.parentKey, ...stateCells(one)]),
      )
      return { lines, cursor: cursorAfter(locations, (one) => one.id) }
    },
  )

const historyColumns = [
  'asset_external_key',
  'asset_name',
  'event_observed_at',
  'location_external_key',
  'location_name',
  'duration_seconds',
]

const beforeAll: HistoryCursor = { assetId: 0, minute: instantFromMillis(0) }

/** One line per recorded minute of every live asset, or of the given assets. */
export const exportHistory = (
  db: Db,
  orgId: number,
  filter: { assetIds?: readonly number[] | undefined; from?: Instant | undefined; to?: Instant | undefined },
): AsyncGenerator<string> =>
  inBatches(historyColumns, beforeAll, async (after: HistoryCursor) => {
    const rows = await historyBatch(db, orgId, filter, after, batchSize)
    const lines = rows.map((row) =>
      csvLine([
        row.assetKey,
        row.assetName,
        formatMillis(row.observedAt),
        row.locationKey,
        row.locationName,
        row.durationSeconds === null ? null : String(row.durationSeconds),
      ]),
    )
    return { lines, cursor: cursorAfter(rows, ({ assetId, minute }) => ({ assetId, minute })) }
  })

const positionColumns = ['asset_external_key', 'asset_name', 'location_external_key', 'location_name', 'last_seen_at']

/** The location of every scanned asset, now or at an instant. */
export const exportPositions = (db: Db, orgId: number, at: Instant | undefined): AsyncGenerator<string> =>
  inBatches(positionColumns, 0, async (after: number) => {
    const rows = await positionBatch(db, orgId, at, after, batchSize)
    const lines = rows.map((row) =>
      csvLine([row.assetKey, row.assetName, row.locationKey, row.locationName, formatOptional(row.lastSeenAt)]),
    )
    return {
      lines: lines.filter((_line, index) => rows[index]!.lastSeenAt !== null),
      cursor: cursorAfter(rows, (row) => row.assetId),
    }
  })
