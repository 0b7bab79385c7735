import type { Database, Tx } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { type Instant, toDatabase } from '../../kernel/instant.ts'
import { smoothingOf } from '../../readers/readers.sql.ts'
import { type MoveRow, type RecordedMove, moveOf } from '../moves.sql.ts'
import type { Sighting } from '../sighting.ts'
import type { Observation } from './smoothing.ts'
import { type TagRead, columnsOf, earliestPerMinute, minuteKey } from './tag-read.ts'

/** The functions that are called here are defined, step by step, in migrations/repeatable/recording_functions.sql. */

export interface Recorded {
  /** For each read, in order, whether its tag is attached to an asset. */
  isKnown: boolean[]
  /** The number of moves. Webhooks and live streams read them from the table. */
  moves: number
}

const resolveArguments = (columns: ReturnType<typeof columnsOf>): Sql => sql`
  ${columns.tagGroups}, ${columns.tagTypes}, ${columns.normalizedValues}, ${columns.readerIds}, ${columns.antennas},
  ${columns.readTagGroups}, ${columns.readAntennaRefs}`

/**
 * Records a batch in one round trip, and sends only the reads that can set a minute. Returns null, and records nothing, when
 * one of the readers uses smoothing.
 */
export async function recordBatch(
  db: Database,
  orgId: number,
  reads: readonly TagRead[],
  at: Instant,
): Promise<Recorded | null> {
  const earliest = earliestPerMinute(reads)
  const [batch] = await db.withTenantPipelined(orgId, (tx) =>
    tx.query<{ unknownReads: number[] | null; moves: number }>(sql`
      select max(r.unknown_reads) as "unknownReads", count(*) filter (where r.unknown_reads is null) as moves
      from record_reads(${orgId}, ${toDatabase(at)}, ${resolveArguments(columnsOf(earliest))},
        ${earliest.map((read) => toDatabase(read.observedAt))}) r`),
  )
  if (batch === undefined || batch.unknownReads === null) return null
  const unknown = new Set(batch.unknownReads.map((number) => minuteKey(earliest[number - 1]!)))
  return { isKnown: reads.map((read) => unknown.size === 0 || !unknown.has(minuteKey(read))), moves: batch.moves }
}

/** The asset and location of each read; null when its tag is attached to no asset or its reader was deleted. */
export async function resolveReads(tx: Tx, orgId: number, reads: readonly TagRead[]): Promise<(Observation | null)[]> {
  const columns = columnsOf(reads)
  const [resolved] = await tx.query<{
    found_assets: (number | null)[]
    found_locations: (number | null)[]
    smoothings: (string | null)[] | null
  }>(sql`
    select found_assets, found_locations, smoothings from resolve_reads(${orgId}, ${resolveArguments(columns)})`)
  const smoothings = (resolved?.smoothings ?? []).map(smoothingOf)
  return reads.map(({ observedAt, rssiDbm }, index) => {
    const assetId = resolved?.found_assets[index] ?? null
    if (assetId === null) return null
    const smoothing = smoothings[columns.readAntennaRefs[index]! - 1] ?? null
    return { assetId, locationId: resolved?.found_locations[index] ?? null, observedAt, rssiDbm, smoothing }
  })
}

/** Records sightings of readers in any order. Fails when an asset is no longer at the location in `assumed`. */
export async function recordSightings(
  tx: Tx,
  orgId: number,
  sightings: readonly Sighting[],
  assumed: ReadonlyMap<number, number | null>,
  at: Instant,
): Promise<RecordedMove[]> {
  const rows = await tx.query<MoveRow>(sql`
    select * from record_sightings(${orgId}, 'reader', ${toDatabase(at)}, ${sightings.map((one) => one.assetId)},
      ${sightings.map((one) => one.locationId)}, ${sightings.map((one) => toDatabase(one.observedAt))},
      ${[...assumed.keys()]}, ${[...assumed.values()]})`)
  return rows.map(moveOf)
}

/** Records that an operator saw the assets at the location. */
export async function recordPresence(
  tx: Tx,
  orgId: number,
  locationId: number,
  assetIds: readonly number[],
  at: Instant,
): Promise<RecordedMove[]> {
  const rows = await tx.query<MoveRow>(sql`
    select * from record_operator_sighting(${orgId}, ${toDatabase(at)}, ${locationId}, ${assetIds})`)
  return rows.map(moveOf)
}
