import type { Tx } from '../../db/database.ts'
import type { Instant } from '../../kernel/instant.ts'
import type { RecordedMove } from '../moves.sql.ts'
import { recordPresence } from './recording.sql.ts'

/**
 * An operator saw these assets at the location. The sighting goes through the same steps as reads (`record-reads.ts`, steps
 * 2 to 7) but overrides the reads of its minute; the overridden location becomes the origin of the move. When a reader's
 * clock is ahead, the sighting takes the asset's latest minute, so that it overrides that one too
 * (`record_operator_sighting` in `migrations/repeatable/recording_functions.sql`). Locks are taken in the same order as for
 * reads, minutes before positions, to avoid deadlocks.
 */
export const recordOperatorSighting = (
  tx: Tx,
  orgId: number,
  locationId: number,
  assetIds: readonly number[],
  at: Instant,
): Promise<RecordedMove[]> => recordPresence(tx, orgId, locationId, assetIds, at)
