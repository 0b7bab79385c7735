import { assetBatch } from '../assets/assets.sql.ts'
import type { Db } from '../db/database.ts'
import { type Instant, formatMillis, instantFromMillis } from '../kernel/instant.ts'
import { locationBatch } from '../locations/locations.sql.ts'
import type { RecordCore } from '../records/record.ts'
import { type HistoryCursor, historyBatch, positionBatch } from '../tracking/export.sql.ts'
import { byteOrderMark, csvLine } from './csv.ts'

/** Rows in memory for one export, each of up to 64 KiB of metadata. */
const batchSize = 200

const wire = (at: Instant | null): string | null => (at === null ? null : formatMillis(at))

/** One tag per line of the cell: a value holds no line break. */
const tagsCell = ({ tags }: RecordCore): string | null =>
  tags.length === 0 ? null : tags.map((tag) => `${tag.type}:${tag.value}`).join('\n')

const stateCells = (record: RecordCore): (string | null)[] => [
  String(record.isActive),
  formatMillis(record.validFrom),
  wire(record.validTo),
  tagsCell(record),
]

const stateColumns = ['is_active', 'valid_from', 'valid_to', 'tags']

/**
 * A file in batches, each read at its own moment, in the order of ids: what is there all the while stands in the file
 * exactly once, however long somebody takes to download it, and no transaction stays open meanwhile. `next` gives the
 * lines behind a place and the place they end at, null at the end.
 */
async function* inBatches<Place>(
  columns: readonly string[],
  start: Place,
  next: (after: Place) => Promise<{ lines: string[]; place: Place | null }>,
): AsyncGenerator<string> {
  let text = byteOrderMark + csvLine(columns)
  for (let place: Place | null = start; place !== null;) {
    const batch = await next(place)
    yield text + batch.lines.join('')
    text = ''
    place = batch.place
  }
}

const placeBehind = <Row, Place>(rows: readonly Row[], place: (row: Row) => Place): Place | null =>
  rows.length < batchSize ? null : place(rows.at(-1)!)

/** Every live asset, whether or not it is valid now. */
export const exportAssets = (db: Db, orgId: number): AsyncGenerator<string> =>
  inBatches(['external_key', 'name', 'description', 'metadata', ...stateColumns], 0, async (after: number) => {
    const assets = await assetBatch(db, orgId, after, batchSize)
    const lines = assets.map((one) =>
      csvLine([one.externalKey, one.name, one.description, JSON.stringify(one.metadata), ...stateCells(one)]),
    )
    return { lines, place: placeBehind(assets, (one) => one.id) }
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
      return { lines, place: placeBehind(locations, (one) => one.id) }
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

/** One line per recorded minute of every live asset, or of those named. */
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
    return { lines, place: placeBehind(rows, ({ assetId, minute }) => ({ assetId, minute })) }
  })

const positionColumns = ['asset_external_key', 'asset_name', 'location_external_key', 'location_name', 'last_seen_at']

/** Where every scanned asset is, or was at an instant. */
export const exportPositions = (db: Db, orgId: number, at: Instant | undefined): AsyncGenerator<string> =>
  inBatches(positionColumns, 0, async (after: number) => {
    const rows = await positionBatch(db, orgId, at, after, batchSize)
    const lines = rows.map((row) =>
      csvLine([row.assetKey, row.assetName, row.locationKey, row.locationName, wire(row.lastSeenAt)]),
    )
    return {
      lines: lines.filter((_line, index) => rows[index]!.lastSeenAt !== null),
      place: placeBehind(rows, (row) => row.assetId),
    }
  })
