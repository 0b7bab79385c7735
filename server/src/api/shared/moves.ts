import { id, object, text } from '../../http/validation/fields.ts'
import { nullable } from '../../http/validation/schema.ts'
import { type Output, component } from '../../http/openapi/response-schema.ts'
import { formatMillis } from '../../kernel/instant.ts'
import type { RecordedMove } from '../../tracking/moves.sql.ts'
import { timestamp } from './wire.ts'

const singleLine = text({ min: 1, max: 255 })
const locationRef = object({ id: id, name: singleLine })

export const MoveOut = component(
  'Move',
  {
    delivery_id: { schema: { type: 'string', format: 'uuid' }, parse: String },
    occurred_at: timestamp,
    asset: object({ id: id, external_key: singleLine, name: singleLine }),
    from_location: nullable(locationRef),
    to_location: locationRef,
  },
  {
    delivery_id: '0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11',
    occurred_at: '2026-05-04T08:15:02.120Z',
    asset: { id: 4503170118275611, external_key: 'ASSET-0001', name: 'Pallet jack 7' },
    from_location: null,
    to_location: { id: 7710249930581042, name: 'Dock 3' },
  },
)

export const presentMove = (move: RecordedMove): Output<(typeof MoveOut)['shape']> => ({
  delivery_id: move.deliveryId,
  occurred_at: formatMillis(move.occurredAt),
  asset: { id: move.assetId, external_key: move.assetKey, name: move.assetName },
  from_location: move.from,
  to_location: move.to,
})
