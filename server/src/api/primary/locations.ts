import { ids, keys } from '../../http/query.ts'
import { reference } from '../../http/fields.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { type Infer, nullable, optional } from '../../http/schema.ts'
import { type Wire, component, listExample, listOfAll } from '../../http/shape.ts'
import {
  changeLocation,
  createLocation,
  deleteLocation,
  locationKin,
  renameLocation,
} from '../../locations/commands.ts'
import type { Location, LocationDraft, LocationPatch, ParentRef } from '../../locations/location.ts'
import { listLocations, locationStore, plain } from '../../locations/locations.sql.ts'
import type { Needs } from '../../records/record.ts'
import { descriptionField, keyField, listAnswer, nameField, paging } from '../shared/wire.ts'
import { listDb } from '../shared/list-db.ts'
import { listRequest, recordParameters } from './list-parameters.ts'
import { coreCreate, statePatch, toCoreDraft, toPatch } from './record-body.ts'
import { recordRoutes } from './record-routes.ts'
import { presentState, stateCreate, stateExample, stateShape } from './wire.ts'

export const LocationOut = component(
  'Location',
  {
    id: reference,
    external_key: keyField,
    name: nameField,
    description: nullable(descriptionField),
    parent_id: nullable(reference),
    parent_external_key: nullable(keyField),
    ...stateShape,
  },
  {
    id: 7710249930581042,
    external_key: 'LOC-001',
    name: 'Dock 3',
    description: null,
    parent_id: 1380447215590063,
    parent_external_key: 'HALL-A',
    ...stateExample,
    tags: [],
  },
)

function presentLocation(location: Location): Wire<(typeof LocationOut)['shape']> {
  return {
    id: location.id,
    external_key: location.externalKey,
    name: location.name,
    description: location.description,
    parent_id: location.parentId,
    parent_external_key: location.parentKey,
    ...presentState(location),
  }
}

const parentShape = {
  parent_id: optional(nullable(reference)),
  parent_external_key: optional(nullable(keyField)),
}

const createShape = { ...coreCreate, ...parentShape, ...stateCreate }
const patchShape = { ...statePatch.before, ...parentShape, ...statePatch.after }

const parentOf = (body: Infer<typeof parentShape>): ParentRef => ({
  ...(body.parent_id === undefined ? {} : { id: body.parent_id }),
  ...(body.parent_external_key === undefined ? {} : { key: body.parent_external_key }),
})

const toDraft = (body: Infer<typeof createShape>): LocationDraft => ({ ...toCoreDraft(body), parent: parentOf(body) })
const toLocationPatch = (body: Infer<typeof patchShape>): LocationPatch => ({ ...toPatch(body), parent: parentOf(body) })

const parameters = { ...recordParameters, parent_id: ids, parent_external_key: keys }

const kinDescriptions = {
  ancestors: 'From the root down to the parent.',
  children: 'By name.',
  descendants: 'Depth-first, siblings by external_key.',
} as const

export function locationRoutes(needs: Needs, base: string): AnyRoute[] {
  const routes = recordRoutes(needs, {
    base,
    store: locationStore,
    singular: 'location',
    paths: {
      collection: '/locations',
      item: '/locations/{location_id}',
      rename: '/locations/{location_id}/rename',
      tags: '/locations/{location_id}/tags',
      tag: '/locations/{location_id}/tags/{tag_id}',
    },
    out: LocationOut,
    present: presentLocation,
    create: {
      shape: createShape,
      example: { name: 'Dock 3', parent_external_key: 'HALL-A' },
      description:
        'Without `external_key` the service generates one, such as `LOC-001`. Name the parent by `parent_id` or by `parent_external_key`; without either the location is a root.',
    },
    patch: { shape: patchShape, example: { parent_external_key: 'HALL-B' }, refusals: [409] },
    remove: { description: 'Refused while live locations lie below it or assets are placed in it.', refusals: [409] },
    query: { parameters, pairs: [['parent_id', 'parent_external_key']] },
    commands: {
      list: (orgId, query) =>
        listLocations(
          listDb(needs, orgId, query.q),
          orgId,
          listRequest(query, needs.clock),
          { parentIds: query.parent_id, parentKeys: query.parent_external_key },
          plain,
        ),
      create: (orgId, body) => createLocation(needs, orgId, toDraft(body)),
      change: (orgId, id, body) => changeLocation(needs, orgId, id, toLocationPatch(body)),
      remove: (orgId, id) => deleteLocation(needs, orgId, id),
      rename: (orgId, id, key) => renameLocation(needs, orgId, id, key),
    },
  })
  return [
    ...routes,
    kinRoute(needs, 'ancestors', '/locations/{location_id}/ancestors'),
    kinRoute(needs, 'children', '/locations/{location_id}/children'),
    kinRoute(needs, 'descendants', '/locations/{location_id}/descendants'),
  ]
}

function kinRoute(needs: Needs, kin: keyof typeof kinDescriptions, path: string): AnyRoute {
  return route({
    id: `locations.${kin}`,
    method: 'GET',
    path,
    group: 'Locations',
    access: 'any',
    scopes: ['locations:read'],
    ids: ['location_id'],
    summary: `List the ${kin} of a location`,
    description: kinDescriptions[kin],
    query: { parameters: paging },
    success: {
      status: 200,
      description: 'A page of locations',
      schema: listOfAll(LocationOut),
      example: listExample(LocationOut),
    },
    async handle({ caller, params, query }) {
      const page = await locationKin(needs, caller.orgId, params.location_id, kin, query, plain)
      return ok(listAnswer(page, query, presentLocation))
    },
  })
}
