import type { Database } from '../../db/database.ts'
import { type Clock, now } from '../../kernel/clock.ts'
import { type Recorded, recordBatch, recordSightings, resolveReads } from './recording.sql.ts'
import type { TagRead } from './tag-read.ts'
import { smoothSightings } from './smooth-sightings.ts'

interface Deps {
  db: Database
  clock: Clock
}

/**
 * read → sighting → minute → position → move, in one transaction and one round trip to the database. The steps are
 * implemented in `migrations/repeatable/recording_functions.sql`:
 *
 * 1. `resolve_reads` resolves tags to assets and antennas to locations. It drops unknown tags and reads of deleted readers.
 * 2. `record_sightings` keeps the first sighting of each asset and minute.
 * 3. It inserts the minute (`asset_minutes`). If the minute already has a sighting, the following steps are skipped.
 * 4. It updates the asset's position (`asset_positions`) and reads the previous location.
 * 5. It stores and counts the first sighting of an asset (`first_sightings`, `first_sighting_counts`, `record_counts`).
 * 6. It inserts a move if the location has changed (`moves`), with the current names, and counts it
 *    (`location_move_counts`).
 * 7. It queues the move for delivery if the organization has a webhook (`webhook_outbox`).
 *
 * Before these steps, `recordBatch` leaves out the reads of a tag that are not the earliest of their reader and minute.
 *
 * Batches with a reader that smooths take several round trips, because smoothing reads recent sightings between 1 and 2.
 */
export async function recordReads(deps: Deps, orgId: number, reads: readonly TagRead[]): Promise<Recorded> {
  const at = now(deps.clock)
  return (await recordBatch(deps.db, orgId, reads, at)) ?? recordSmoothed(deps.db, orgId, reads, deps.clock)
}

function recordSmoothed(db: Database, orgId: number, reads: readonly TagRead[], clock: Clock): Promise<Recorded> {
  return db.withTenant(orgId, async (tx) => {
    const resolved = await resolveReads(tx, orgId, reads)
    const observations = resolved.flatMap((one) => one ?? [])
    const { sightings, assumed } = await smoothSightings(tx, orgId, observations)
    const moves = await recordSightings(tx, orgId, sightings, assumed, now(clock))
    return { isKnown: resolved.map((one) => one !== null), moves: moves.length }
  })
}
