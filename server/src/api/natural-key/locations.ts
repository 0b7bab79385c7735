import { type Output, component } from '../../http/openapi/response-schema.ts'
import type { Principal } from '../../http/principal.ts'
import { type AnyRoute, type HandlerContext, created, noContent, ok, route } from '../../http/route.ts'
import { boolean } from '../../http/validation/fields.ts'
import { booleanParam, keysParam, searchParam, sortParam } from '../../http/validation/parameters.ts'
import { type Field, described, nullable, optional } from '../../http/validation/schema.ts'
import { now } from '../../kernel/clock.ts'
import type { PageRequest } from '../../kernel/page.ts'
import {
  changeLocation,
  createLocation,
  deleteLocation,
  listTreeRelation,
  withPathKeys,
} from '../../locations/commands.ts'
import type { ParentRef, LocationWithPath } from '../../locations/location.ts'
import { withPath, locationWithPathRepository } from '../../locations/locations.sql.ts'
import { listLocationsWithPath, needsAllPaths } from '../../locations/paths.sql.ts'
import type { TreeRelation } from '../../locations/tree.sql.ts'
import { attachTag, detachTag, getRecord } from '../../records/commands.ts'
import type { RecordDeps } from '../../records/record.ts'
import { listDb } from '../shared/list-db.ts'
import { keyField } from '../../records/fields.ts'
import { listBody, pageResponse, paging, singleResponse, wholeNumber } from '../shared/wire.ts'
import {
  IdentifierOut,
  createBody,
  draftOf,
  exampleAfter,
  identifierAttach,
  outShape,
  present,
  presentIdentifier,
  sortedBy,
  toDraft,
  toPatch,
  updateBody,
} from './wire.ts'

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

/**
 * The key as a path segment. The router compares segments before it decodes them, so the first letter of the key `current`
 * is percent-encoded: `/locations/current` is another route.
 */
const segmentOf = (key: string): string => (key === 'current' ? '%63urrent' : encodeURIComponent(key))

export function locationRoutes(deps: RecordDeps, base: string): AnyRoute[] {
  const common = { group: 'Locations', access: 'any' } as const
  const find = (orgId: number, key: string) => getRecord(deps, locationWithPathRepository, orgId, { key })
  const item = {
    ...common,
    keys: ['identifier'],
    async ensureExists({ principal, params }: { principal: Principal; params: { identifier: string } }) {
      await find(principal.orgId, params.identifier)
    },
  } as const
  const treeRelation = {
    ...common,
    scopes: ['locations:read'],
    keys: ['identifier'],
    query: { parameters: paging },
    success: pageResponse(LocationOut, 'A page of locations'),
  } as const
  const list =
    (relation: TreeRelation) =>
    async ({ principal, params, query }: HandlerContext<{ identifier: string }, PageRequest, unknown>) => {
      const ref = { key: params.identifier }
      const page = await listTreeRelation(deps, principal.orgId, ref, relation, query, withPath)
      return ok(listBody(page, query, presentLocation))
    }
  return [
    route({
      ...common,
      id: 'locations.list',
      method: 'GET',
      path: '/locations',
      scopes: ['locations:read'],
      summary: 'List locations',
      description: 'Lists locations that are valid now.',
      query: { parameters },
      success: pageResponse(LocationOut, 'A page of locations'),
      async handle({ principal: { orgId }, query }) {
        const { limit, offset, q, is_active: isActive, parent: parentKeys } = query
        const sort = sortedBy(query.sort, sortNames)
        const request = { limit, offset, filter: { q, isActive }, sort, now: now(deps.clock) }
        const db = listDb(deps, orgId, request, parentKeys !== undefined || needsAllPaths(request))
        const page = await listLocationsWithPath(db, orgId, request, { parentKeys })
        return ok(listBody(page, query, presentLocation))
      },
    }),
    route({
      ...common,
      id: 'locations.create',
      method: 'POST',
      path: '/locations',
      scopes: ['locations:write'],
      summary: 'Create a location',
      description: 'If `parent_identifier` is absent, the location is a root.',
      body: {
        mediaType: 'application/json',
        name: 'LocationCreate',
        shape: createShape,
        example: { identifier: 'DOCK-3', name: 'Dock 3', parent_identifier: 'HALL-A' },
      },
      success: singleResponse(LocationOut, 'The location', 201),
      errorStatuses: [409],
      async handle({ principal: { orgId }, body }) {
        const draft = { ...toDraft(body), parent: parentOf(body) }
        const location = await withPathKeys(deps, orgId, await createLocation(deps, orgId, draft))
        return created(`${base}/locations/${segmentOf(location.externalKey)}`, { data: presentLocation(location) })
      },
    }),
    route({
      ...item,
      id: 'locations.get',
      method: 'GET',
      path: '/locations/{identifier}',
      scopes: ['locations:read'],
      summary: 'Read a location',
      success: singleResponse(LocationOut, 'The location'),
      async handle({ principal, params }) {
        return ok({ data: presentLocation(await find(principal.orgId, params.identifier)) })
      },
    }),
    route({
      ...item,
      id: 'locations.update',
      method: 'PUT',
      path: '/locations/{identifier}',
      scopes: ['locations:write'],
      summary: 'Update a location',
      description: 'Only fields present in the body change.',
      body: {
        mediaType: 'application/json',
        name: 'LocationUpdate',
        shape: updateShape,
        example: { parent_identifier: 'HALL-B' },
      },
      success: singleResponse(LocationOut, 'The location'),
      errorStatuses: [409],
      async handle({ principal: { orgId }, params, body }) {
        const patch = { ...toPatch(body), parent: parentOf(body) }
        const changed = await changeLocation(deps, orgId, { key: params.identifier }, patch)
        return ok({ data: presentLocation(await withPathKeys(deps, orgId, changed)) })
      },
    }),
    route({
      ...item,
      id: 'locations.delete',
      method: 'DELETE',
      path: '/locations/{identifier}',
      scopes: ['locations:write'],
      summary: 'Delete a location',
      description: 'Rejected with 409 while the location has live descendants or assets.',
      success: { status: 204, description: 'Deleted' },
      errorStatuses: [409],
      async handle({ principal, params }) {
        await deleteLocation(deps, principal.orgId, { key: params.identifier })
        return noContent
      },
    }),
    route({
      ...item,
      id: 'locations.identifiers.attach',
      method: 'POST',
      path: '/locations/{identifier}/identifiers',
      scopes: ['locations:write'],
      summary: 'Attach an identifier to a location',
      body: identifierAttach,
      success: singleResponse(IdentifierOut, 'The identifier', 201),
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        const ref = { key: params.identifier }
        const tag = await attachTag(deps, locationWithPathRepository, principal.orgId, ref, draftOf(body))
        return { status: 201, body: { data: presentIdentifier(tag) } }
      },
    }),
    route({
      ...common,
      id: 'locations.identifiers.detach',
      method: 'DELETE',
      path: '/locations/{identifier}/identifiers/{identifierId}',
      keys: ['identifier'],
      ids: ['identifierId'],
      scopes: ['locations:write'],
      summary: 'Detach an identifier from a location',
      success: { status: 204, description: 'Detached' },
      async handle({ principal, params }) {
        const ref = { key: params.identifier }
        await detachTag(deps, locationWithPathRepository, principal.orgId, ref, params.identifierId)
        return noContent
      },
    }),
    route({
      ...treeRelation,
      id: 'locations.ancestors',
      method: 'GET',
      path: '/locations/{identifier}/ancestors',
      summary: 'List the ancestors of a location',
      description: 'From the root down to the parent.',
      handle: list('ancestors'),
    }),
    route({
      ...treeRelation,
      id: 'locations.children',
      method: 'GET',
      path: '/locations/{identifier}/children',
      summary: 'List the children of a location',
      description: 'By name.',
      handle: list('children'),
    }),
    route({
      ...treeRelation,
      id: 'locations.descendants',
      method: 'GET',
      path: '/locations/{identifier}/descendants',
      summary: 'List the descendants of a location',
      description: 'Depth-first, siblings by identifier.',
      handle: list('descendants'),
    }),
  ]
}
