import type { Database, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { type Instant, toDatabase } from '../kernel/instant.ts'
import { smoothingOf } from '../readers/readers.sql.ts'
import { type MoveRow, type RecordedMove, moveOf } from './moves.sql.ts'
import type { Sighting } from './sighting.ts'
import type { Observation } from './smoothing.ts'
import { type TagRead, columnsOf } from './tag-read.ts'

/** Migration 0018 holds the functions that are called here; what they do stands there, step by step. */

export interface Recorded {
  /** For each read, in order, whether its tag hangs on an asset. */
  isKnown: boolean[]
  /** How many: whoever is to be told of them looks them up. */
  moves: number
}

const resolvable = (columns: ReturnType<typeof columnsOf>): Sql => sql`
  ${columns.carriers}, ${columns.tagTypes}, ${columns.matchValues}, ${columns.readerIds}, ${columns.antennas},
  ${columns.readCarriers}, ${columns.readViewpoints}`

/** All of a batch in one round trip; null, and nothing is done, where one of the readers smooths. */
export async function recordBatch(
  db: Database,
  orgId: number,
  reads: readonly TagRead[],
  at: Instant,
): Promise<Recorded | null> {
  const [batch] = await db.sendInOrganization(orgId, (tx) =>
    tx.query<{ strangers: number[] | null; moves: number }>(sql`
      select max(r.strangers) as strangers, count(*) filter (where r.strangers is null) as moves
      from record_reads(${orgId}, ${toDatabase(at)}, ${resolvable(columnsOf(reads))},
        ${reads.map((read) => toDatabase(read.observedAt))}) r`),
  )
  if (batch === undefined || batch.strangers === null) return null
  const isKnown = reads.map(() => true)
  for (const number of batch.strangers) isKnown[number - 1] = false
  return { isKnown, moves: batch.moves }
}

/** Which asset was seen where, for each read; null where its tag hangs on no asset or its reader is gone. */
export async function resolveReads(tx: Tx, orgId: number, reads: readonly TagRead[]): Promise<(Observation | null)[]> {
  const columns = columnsOf(reads)
  const [found] = await tx.query<{
    found_assets: (number | null)[]
    found_places: (number | null)[]
    smoothings: (string | null)[] | null
  }>(sql`
    select found_assets, found_places, smoothings from resolve_reads(${orgId}, ${resolvable(columns)})`)
  const smoothings = (found?.smoothings ?? []).map(smoothingOf)
  return reads.map(({ observedAt, rssiDbm }, index) => {
    const assetId = found?.found_assets[index] ?? null
    if (assetId === null) return null
    const smoothing = smoothings[columns.readViewpoints[index]! - 1] ?? null
    return { assetId, locationId: found?.found_places[index] ?? null, observedAt, rssiDbm, smoothing }
  })
}

/** Records what readers saw, in whatever order, provided that the assets are still where they were assumed to be. */
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

/** Records that an operator says these assets are here. */
export async function recordPresence(
  tx: Tx,
  orgId: number,
  locationId: number,
  assetIds: readonly number[],
  at: Instant,
): Promise<RecordedMove[]> {
  const rows = await tx.query<MoveRow>(sql`
    select * from record_save(${orgId}, ${toDatabase(at)}, ${locationId}, ${assetIds})`)
  return rows.map(moveOf)
}
