import type { Tx } from '../../db/database.ts'
import type { Instant } from '../../kernel/instant.ts'
import type { RecordedMove } from '../moves.sql.ts'
import { recordPresence } from '../recording.sql.ts'

/**
 * An operator says these assets are here. The save takes the same way as reads do (`record-reads.ts`, steps 2 to 7), and
 * it wins the minute: the place that it overrides is where they came from. Where a reader's clock runs ahead, the save
 * takes the asset's latest minute, so that it wins there too (`record_operator_sighting` in migration 0018). Locks are taken as reads
 * take them, minutes before positions, so that neither waits for the other in a circle.
 */
export const recordOperatorSighting = (
  tx: Tx,
  orgId: number,
  locationId: number,
  assetIds: readonly number[],
  at: Instant,
): Promise<RecordedMove[]> => recordPresence(tx, orgId, locationId, assetIds, at)
