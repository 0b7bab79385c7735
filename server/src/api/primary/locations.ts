import { idsParam, keysParam } from '../../http/validation/parameters.ts'
import { id } from '../../http/validation/fields.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { type Infer, nullable, optional } from '../../http/validation/schema.ts'
import { type Output, component, pageExample, pageOf } from '../../http/openapi/response-schema.ts'
import {
  changeLocation,
  createLocation,
  deleteLocation,
  listTreeRelation,
  renameLocation,
} from '../../locations/commands.ts'
import type { Location, LocationDraft, LocationPatch, ParentRef } from '../../locations/location.ts'
import { listLocations, locationRepository, withoutPath } from '../../locations/locations.sql.ts'
import type { RecordDeps } from '../../records/record.ts'
import { descriptionField, keyField, listAnswer, nameField, paging } from '../shared/wire.ts'
import { listDb } from '../shared/list-db.ts'
import { listRequest, recordParameters } from './list-parameters.ts'
import { coreCreate, statePatch, toCoreDraft, toPatch } from './record-body.ts'
import { recordRoutes } from './record-routes.ts'
import { presentState, stateCreate, stateExample, stateShape } from './wire.ts'

export const LocationOut = component(
  'Location',
  {
    id: id,
    external_key: keyField,
    name: nameField,
    description: nullable(descriptionField),
    parent_id: nullable(id),
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

function presentLocation(location: Location): Output<(typeof LocationOut)['shape']> {
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
  parent_id: optional(nullable(id)),
  parent_external_key: optional(nullable(keyField)),
}

const createShape = { ...coreCreate, ...parentShape, ...stateCreate }
const patchShape = { ...statePatch.before, ...parentShape, ...statePatch.after }

const parentOf = (body: Infer<typeof parentShape>): ParentRef => ({
  ...(body.parent_id === undefined ? {} : { id: body.parent_id }),
  ...(body.parent_external_key === undefined ? {} : { key: body.parent_external_key }),
})

const toDraft = (body: Infer<typeof createShape>): LocationDraft => ({ ...toCoreDraft(body), parent: parentOf(body) })
const toLocationPatch = (body: Infer<typeof patchShape>): LocationPatch => ({
  ...toPatch(body),
  parent: parentOf(body),
})

const parameters = { ...recordParameters, parent_id: idsParam, parent_external_key: keysParam }

const relationDescriptions = {
  ancestors: 'From the root down to the parent.',
  children: 'By name.',
  descendants: 'Depth-first, siblings by external_key.',
} as const

export function locationRoutes(deps: RecordDeps, base: string): AnyRoute[] {
  const routes = recordRoutes(deps, {
    base,
    repository: locationRepository,
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
        'If `external_key` is absent, the service generates one, such as `LOC-001`. Set the parent with `parent_id` or `parent_external_key`; without either the location is a root.',
    },
    patch: { shape: patchShape, example: { parent_external_key: 'HALL-B' }, errorStatuses: [409] },
    remove: {
      description: 'Rejected with 409 while the location has live descendants or assets.',
      errorStatuses: [409],
    },
    query: { parameters, pairs: [['parent_id', 'parent_external_key']] },
    commands: {
      list: (orgId, query) =>
        listLocations(
          listDb(deps, orgId, query),
          orgId,
          listRequest(query, deps.clock),
          { parentIds: query.parent_id, parentKeys: query.parent_external_key },
          withoutPath,
        ),
      create: (orgId, body) => createLocation(deps, orgId, toDraft(body)),
      change: (orgId, id, body) => changeLocation(deps, orgId, id, toLocationPatch(body)),
      remove: (orgId, id) => deleteLocation(deps, orgId, id),
      rename: (orgId, id, key) => renameLocation(deps, orgId, id, key),
    },
  })
  return [
    ...routes,
    treeRoute(deps, 'ancestors', '/locations/{location_id}/ancestors'),
    treeRoute(deps, 'children', '/locations/{location_id}/children'),
    treeRoute(deps, 'descendants', '/locations/{location_id}/descendants'),
  ]
}

function treeRoute(deps: RecordDeps, relation: keyof typeof relationDescriptions, path: string): AnyRoute {
  return route({
    id: `locations.${relation}`,
    method: 'GET',
    path,
    group: 'Locations',
    access: 'any',
    scopes: ['locations:read'],
    ids: ['location_id'],
    summary: `List the ${relation} of a location`,
    description: relationDescriptions[relation],
    query: { parameters: paging },
    success: {
      status: 200,
      description: 'A page of locations',
      schema: pageOf(LocationOut),
      example: pageExample(LocationOut),
    },
    async handle({ principal, params, query }) {
      const page = await listTreeRelation(deps, principal.orgId, params.location_id, relation, query, withoutPath)
      return ok(listAnswer(page, query, presentLocation))
    },
  })
}
