import type { Database } from '../../db/database.ts'
import { type Clock, now } from '../../kernel/clock.ts'
import { type Recorded, recordBatch, recordSightings, resolveReads } from '../recording.sql.ts'
import type { TagRead } from '../tag-read.ts'
import { smoothSightings } from './smooth-sightings.ts'

interface Deps {
  db: Database
  clock: Clock
}

/**
 * read → sighting → minute → position → move, in one transaction: all of a batch happens, or none of it. It is one round
 * trip to the database, and the steps stand in one place, migration 0018:
 *
 * 1. `resolve_reads`: tag → asset, antenna → place. An unknown tag and a reader deleted since leave the batch here.
 * 2. `record_sightings`: the first sighting of each asset and minute
 * 3. takes the minute if it is free (`asset_minutes`); whoever is late changes nothing from here on,
 * 4. brings the asset's position up to date (`asset_positions`) and learns where the asset was before,
 * 5. books an asset that was never seen until now (`record_counts`),
 * 6. is a move where the place is another one (`moves`), with the names of the moment,
 * 7. and due for delivery where a webhook listens (`webhook_outbox`).
 *
 * A reader that smooths needs a look at what else was seen between 1 and 2, so its batches take several round trips.
 */
export async function recordReads(deps: Deps, orgId: number, reads: readonly TagRead[]): Promise<Recorded> {
  const at = now(deps.clock)
  return (await recordBatch(deps.db, orgId, reads, at)) ?? recordSteadied(deps.db, orgId, reads, deps.clock)
}

function recordSteadied(db: Database, orgId: number, reads: readonly TagRead[], clock: Clock): Promise<Recorded> {
  return db.withTenant(orgId, async (tx) => {
    const seen = await resolveReads(tx, orgId, reads)
    const observations = seen.flatMap((one) => one ?? [])
    const { sightings, assumed } = await smoothSightings(tx, orgId, observations)
    const moves = await recordSightings(tx, orgId, sightings, assumed, now(clock))
    return { isKnown: seen.map((one) => one !== null), moves: moves.length }
  })
}
