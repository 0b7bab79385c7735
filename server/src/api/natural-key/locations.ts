import { boolean } from '../../http/validation/fields.ts'
import { booleanParam, keysParam, searchParam, sortParam } from '../../http/validation/parameters.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { type Field, described, nullable, optional } from '../../http/validation/schema.ts'
import { type Output, component, pageExample, pageOf } from '../../http/openapi/response-schema.ts'
import { now } from '../../kernel/clock.ts'
import {
  changeLocation,
  createLocation,
  deleteLocation,
  listTreeRelation,
  withPathKeys,
} from '../../locations/commands.ts'
import type { ParentRef, LocationWithPath } from '../../locations/location.ts'
import { withPath, locationWithPathRepository } from '../../locations/locations.sql.ts'
import { listLocationsWithPath } from '../../locations/paths.sql.ts'
import type { RecordDeps } from '../../records/record.ts'
import { keyField, listAnswer, paging, wholeNumber } from '../shared/wire.ts'
import { listDb } from '../shared/list-db.ts'
import { recordRoutes } from './record-routes.ts'
import { createBody, exampleAfter, outShape, present, sortedBy, toDraft, toPatch, updateBody } from './wire.ts'

const anyText: Field<string> = { schema: { type: 'string' }, parse: String }

export const LocationOut = component(
  'Location',
  {
    ...outShape.before,
    parent_identifier: optional(described(keyField, 'Absent at a root.')),
    parent: optional(described(keyField, 'The same as `parent_identifier`.')),
    path: described(anyText, 'The identifiers from the root down, joined by `/`.'),
    depth: described(wholeNumber, '0 at a root.'),
    is_active: boolean,
    ...outShape.after,
  },
  {
    surrogate_id: 7710249930581042,
    identifier: 'DOCK-3',
    name: 'Dock 3',
    parent_identifier: 'HALL-A',
    parent: 'HALL-A',
    path: 'HALL-A/DOCK-3',
    depth: 1,
    is_active: true,
    ...exampleAfter,
    identifiers: [],
  },
)

const presentLocation = (location: LocationWithPath): Output<(typeof LocationOut)['shape']> => ({
  ...present.before(location),
  parent_identifier: location.parentKey ?? undefined,
  parent: location.parentKey ?? undefined,
  path: location.pathKeys.join('/'),
  depth: location.pathKeys.length - 1,
  is_active: location.isActive,
  ...present.after(location),
})

const ownBody = {
  parent_identifier: optional(described(nullable(keyField), 'null makes it a root.')),
  is_active: optional(boolean),
}

const createShape = { identifier: keyField, ...createBody.before, ...ownBody, ...createBody.after }
const updateShape = { ...updateBody.before, ...ownBody, ...updateBody.after }

const parentOf = ({ parent_identifier: key }: { parent_identifier?: string | null }): ParentRef =>
  key === undefined ? {} : { key }

const parameters = {
  ...paging,
  parent: keysParam,
  is_active: booleanParam,
  q: searchParam,
  sort: sortParam(['path', 'identifier', 'name', 'created_at'], [{ field: 'path', descending: false }]),
}

const sortNames = { path: 'path', identifier: 'external_key', name: 'name', created_at: 'created_at' } as const

export function locationRoutes(deps: RecordDeps, base: string): AnyRoute[] {
  const routes = recordRoutes(deps, {
    base,
    repository: locationWithPathRepository,
    singular: 'location',
    paths: {
      collection: '/locations',
      item: '/locations/{identifier}',
      identifiers: '/locations/{identifier}/identifiers',
      identifier: '/locations/{identifier}/identifiers/{identifierId}',
    },
    fixedSegments: ['current'],
    out: LocationOut,
    present: presentLocation,
    create: {
      shape: createShape,
      example: { identifier: 'DOCK-3', name: 'Dock 3', parent_identifier: 'HALL-A' },
      description: 'If `parent_identifier` is absent, the location is a root.',
    },
    update: {
      shape: updateShape,
      example: { parent_identifier: 'HALL-B' },
      description: 'Only fields present in the body change.',
    },
    remove: {
      description: 'Rejected with 409 while the location has live descendants or assets.',
      errorStatuses: [409],
    },
    query: { parameters },
    commands: {
      list: (orgId, { limit, offset, q, is_active: isActive, parent, ...query }) => {
        const request = { limit, offset, filter: { q, isActive }, sort: sortedBy(query.sort, sortNames) }
        return listLocationsWithPath(
          listDb(deps, orgId, { q, offset }),
          orgId,
          { ...request, now: now(deps.clock) },
          { parentKeys: parent },
        )
      },
      create: async (orgId, body) => {
        const location = await createLocation(deps, orgId, { ...toDraft(body), parent: parentOf(body) })
        return withPathKeys(deps, orgId, location)
      },
      change: async (orgId, ref, body) => {
        const changed = await changeLocation(deps, orgId, ref, { ...toPatch(body), parent: parentOf(body) })
        return withPathKeys(deps, orgId, changed)
      },
      remove: (orgId, ref) => deleteLocation(deps, orgId, ref),
    },
  })
  return [
    ...routes,
    treeRoute(deps, 'ancestors', '/locations/{identifier}/ancestors'),
    treeRoute(deps, 'children', '/locations/{identifier}/children'),
    treeRoute(deps, 'descendants', '/locations/{identifier}/descendants'),
  ]
}

const relationDescriptions = {
  ancestors: 'From the root down to the parent.',
  children: 'By name.',
  descendants: 'Depth-first, siblings by identifier.',
} as const

function treeRoute(deps: RecordDeps, relation: keyof typeof relationDescriptions, path: string): AnyRoute {
  return route({
    id: `locations.${relation}`,
    method: 'GET',
    path,
    group: 'Locations',
    access: 'any',
    scopes: ['locations:read'],
    keys: ['identifier'],
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
      const ref = { key: params.identifier }
      const page = await listTreeRelation(deps, principal.orgId, ref, relation, query, withPath)
      return ok(listAnswer(page, query, presentLocation))
    },
  })
}
