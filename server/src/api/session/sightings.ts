import { listOf, text } from '../../http/validation/fields.ts'
import { nullable, optional } from '../../http/validation/schema.ts'
import { envelope, envelopeExample } from '../../http/openapi/response-schema.ts'
import { type AnyRoute, route } from '../../http/route.ts'
import type { AssetLocationDeps } from '../../tracking/recording/asset-at-location.ts'
import { saveInventory } from '../../tracking/recording/save-inventory.ts'
import { maxNoteLength } from '../../tracking/sighting-notes.sql.ts'
import { InventoryOut, presentSave } from '../shared/inventory.ts'
import { keyField } from '../../records/fields.ts'
import { jsonBody } from './fields.ts'

const shape = {
  location_identifier: keyField,
  asset_identifiers: listOf(keyField, { min: 1, max: 1000 }),
  note: optional(nullable(text({ min: 1, max: maxNoteLength }))),
}
const example = { location_identifier: 'DOCK-3', asset_identifiers: ['ASSET-0001'], note: 'Left wheel is broken' }

export const sightingsRoute = (deps: AssetLocationDeps): AnyRoute =>
  route({
    group: 'Overview and search',
    method: 'POST',
    access: 'session',
    scopes: ['tracking:write'],
    id: 'sightings.save',
    path: '/sightings',
    summary: 'Record that assets are at a location, with an optional note',
    description:
      'The same as `POST /inventory/save`, for the signed-in user. The note is part of the history of each asset.',
    body: jsonBody('SightingsSave', shape, example),
    success: {
      status: 201,
      description: 'Saved',
      schema: envelope(InventoryOut),
      example: envelopeExample(InventoryOut),
    },
    async handle({ principal: { orgId, subject }, body }) {
      const note = body.note == null ? undefined : { userId: Number(subject), text: body.note }
      const saved = await saveInventory(deps, orgId, body.location_identifier, body.asset_identifiers, note)
      return { status: 201, body: { data: presentSave(saved) } }
    },
  })
