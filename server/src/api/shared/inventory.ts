import { listOf, reference, text } from '../../http/fields.ts'
import { type AnyRoute, route } from '../../http/route.ts'
import { type Wire, component, single, singleExample } from '../../http/shape.ts'
import { formatMillis } from '../../kernel/instant.ts'
import type { PlaceNeeds } from '../../pipeline/place-asset.ts'
import { type InventorySave, saveInventory } from '../../pipeline/save-inventory.ts'
import { keyField, timestamp, wholeNumber } from './wire.ts'

export const InventoryOut = component(
  'InventorySaved',
  { count: wholeNumber, location_id: reference, location_name: text({ max: 255 }), timestamp },
  { count: 2, location_id: 7710249930581042, location_name: 'Dock 3', timestamp: '2026-05-04T08:15:02.120Z' },
)

const presentSave = ({ place, count, savedAt }: InventorySave): Wire<(typeof InventoryOut)['shape']> => ({
  count,
  location_id: place.id,
  location_name: place.name,
  timestamp: formatMillis(savedAt),
})

const saveBody = {
  location_identifier: keyField,
  asset_identifiers: listOf(keyField, { min: 1, max: 10_000 }),
}

/** The one write of tracking data that a public base takes; it names everything by natural keys on either. */
export function inventoryRoute(needs: PlaceNeeds): AnyRoute {
  return route({
    id: 'inventory.save',
    method: 'POST',
    path: '/inventory/save',
    group: 'Tracking',
    access: 'any',
    scopes: ['tracking:write'],
    summary: 'Say that assets are at a location',
    description:
      'An operator’s save: it wins the minute. All assets are saved, or none; duplicates count once. The body may be 4 MiB.',
    body: {
      mediaType: 'application/json',
      name: 'InventorySave',
      shape: saveBody,
      // So that 10,000 identifiers of 255 characters fit (D48).
      maxMebibytes: 4,
      example: { location_identifier: 'DOCK-3', asset_identifiers: ['ASSET-0001', 'PJ-7'] },
    },
    success: { status: 201, description: 'Saved', schema: single(InventoryOut), example: singleExample(InventoryOut) },
    async handle({ caller, body }) {
      const saved = await saveInventory(needs, caller.orgId, body.location_identifier, body.asset_identifiers)
      return { status: 201, body: { data: presentSave(saved) } }
    },
  })
}
