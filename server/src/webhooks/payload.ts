import { formatMillis, type Instant } from '../kernel/instant.ts'
import type { RecordedMove } from '../tracking/moves.sql.ts'
import { event } from './webhook.ts'

/** The body of a delivery. It is serialized once; every attempt signs and sends the same bytes. */
export const bodyOf = (move: Omit<RecordedMove, 'recordedAt'>): Buffer =>
  Buffer.from(
    JSON.stringify({
      event,
      delivery_id: move.deliveryId,
      occurred_at: formatMillis(move.occurredAt),
      data: {
        asset: { id: move.assetId, external_key: move.assetKey, name: move.assetName },
        from_location: move.from,
        to_location: move.to,
      },
    }),
  )

/** A sample move for a test event, with a unique delivery id. */
export const testMove = (deliveryId: string, at: Instant): RecordedMove => ({
  deliveryId,
  assetId: 1,
  assetKey: 'TEST-ASSET',
  assetName: 'Test asset',
  from: { id: 2, name: 'Test origin' },
  to: { id: 3, name: 'Test destination' },
  occurredAt: at,
  recordedAt: at,
})
