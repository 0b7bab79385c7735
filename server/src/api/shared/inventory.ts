import { listOf, id, text } from '../../http/validation/fields.ts'
import { type AnyRoute, route } from '../../http/route.ts'
import { type Output, component, envelope, envelopeExample } from '../../http/openapi/response-schema.ts'
import { formatMillis } from '../../kernel/instant.ts'
import type { AssetLocationDeps } from '../../tracking/recording/asset-at-location.ts'
import { type InventorySave, saveInventory } from '../../tracking/recording/save-inventory.ts'
import { keyField } from '../../records/fields.ts'
import { timestamp, wholeNumber } from './wire.ts'

export const InventoryOut = component(
  'InventorySaved',
  { count: wholeNumber, location_id: id, location_name: text({ max: 255 }), timestamp },
  { count: 2, location_id: 7710249930581042, location_name: 'Dock 3', timestamp: '2026-05-04T08:15:02.120Z' },
)

export const presentSave = ({ location, count, savedAt }: InventorySave): Output<(typeof InventoryOut)['shape']> => ({
  count,
  location_id: location.id,
  location_name: location.name,
  timestamp: formatMillis(savedAt),
})

const saveBody = {
  location_identifier: keyField,
  asset_identifiers: listOf(keyField, { min: 1, max: 10_000 }),
}

/** The only public endpoint that writes tracking data. It uses natural keys on both surfaces. */
export function inventoryRoute(deps: AssetLocationDeps): AnyRoute {
  return route({
    id: 'inventory.save',
    method: 'POST',
    path: '/inventory/save',
    group: 'Tracking',
    access: 'any',
    scopes: ['tracking:write'],
    summary: 'Record that assets are at a location',
    description:
      'An operator’s sighting: it takes precedence over reads of the same minute. All assets are saved, or none; duplicates count once. The body may be up to 4 MiB.',
    body: {
      mediaType: 'application/json',
      name: 'InventorySave',
      shape: saveBody,
      // 10,000 identifiers of 255 characters fit into 4 MiB (D48).
      maxMebibytes: 4,
      example: { location_identifier: 'DOCK-3', asset_identifiers: ['ASSET-0001', 'PJ-7'] },
    },
    success: {
      status: 201,
      description: 'Saved',
      schema: envelope(InventoryOut),
      example: envelopeExample(InventoryOut),
    },
    async handle({ principal, body }) {
      const saved = await saveInventory(deps, principal.orgId, body.location_identifier, body.asset_identifiers)
      return { status: 201, body: { data: presentSave(saved) } }
    },
  })
}
