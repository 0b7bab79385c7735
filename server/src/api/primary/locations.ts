import { type Output, component } from '../../http/openapi/response-schema.ts'
import type { Principal } from '../../http/principal.ts'
import { type AnyRoute, type HandlerContext, created, noContent, ok, route } from '../../http/route.ts'
import { id } from '../../http/validation/fields.ts'
import { idsParam, keysParam } from '../../http/validation/parameters.ts'
import { type Infer, nullable, optional } from '../../http/validation/schema.ts'
import { throwIfAny } from '../../kernel/errors.ts'
import type { PageRequest } from '../../kernel/page.ts'
import {
  changeLocation,
  createLocation,
  deleteLocation,
  listTreeRelation,
  renameLocation,
} from '../../locations/commands.ts'
import type { Location, LocationDraft, LocationPatch, ParentRef } from '../../locations/location.ts'
import { listLocations, locationRepository, withoutPath } from '../../locations/locations.sql.ts'
import type { TreeRelation } from '../../locations/tree.sql.ts'
import { attachTag, detachTag, getRecord } from '../../records/commands.ts'
import { serverManagedErrors } from '../../records/read-only-fields.ts'
import type { RecordDeps } from '../../records/record.ts'
import { listDb } from '../shared/list-db.ts'
import { descriptionField, keyField, nameField } from '../../records/fields.ts'
import { listBody, pageResponse, paging, singleResponse } from '../shared/wire.ts'
import { listRequest, recordParameters } from './list-parameters.ts'
import { recordCreate, patchDescription, statePatch, toRecordDraft, toPatch } from './record-body.ts'
import {
  TagOut,
  draftOf,
  presentState,
  presentTag,
  rename,
  renamed,
  stateCreate,
  stateExample,
  stateShape,
  tagAttach,
} from './wire.ts'

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

const createShape = { ...recordCreate, ...parentShape, ...stateCreate }
const patchShape = { ...statePatch.before, ...parentShape, ...statePatch.after }

const parentOf = (body: Infer<typeof parentShape>): ParentRef => ({
  ...(body.parent_id === undefined ? {} : { id: body.parent_id }),
  ...(body.parent_external_key === undefined ? {} : { key: body.parent_external_key }),
})

const toDraft = (body: Infer<typeof createShape>): LocationDraft => ({ ...toRecordDraft(body), parent: parentOf(body) })
const toLocationPatch = (body: Infer<typeof patchShape>): LocationPatch => ({
  ...toPatch(body),
  parent: parentOf(body),
})

const parameters = { ...recordParameters, parent_id: idsParam, parent_external_key: keysParam }

export const LocationRenamed = renamed(LocationOut, 'LocationRenamed')

export function locationRoutes(deps: RecordDeps, base: string): AnyRoute[] {
  const common = { group: 'Locations', access: 'any' } as const
  const item = {
    ...common,
    ids: ['location_id'],
    async ensureExists({ principal, params }: { principal: Principal; params: { location_id: number } }) {
      await getRecord(deps, locationRepository, principal.orgId, params.location_id)
    },
  } as const
  const treeRelation = {
    ...common,
    scopes: ['locations:read'],
    ids: ['location_id'],
    query: { parameters: paging },
    success: pageResponse(LocationOut, 'A page of locations'),
  } as const
  const list =
    (relation: TreeRelation) =>
    async ({ principal, params, query }: HandlerContext<{ location_id: number }, PageRequest, unknown>) => {
      const page = await listTreeRelation(deps, principal.orgId, params.location_id, relation, query, withoutPath)
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
      description: 'Lists locations that are valid now; `include_deleted` adds deleted locations.',
      query: { parameters, pairs: [['parent_id', 'parent_external_key']] },
      success: pageResponse(LocationOut, 'A page of locations'),
      async handle({ principal: { orgId }, query }) {
        const filter = { parentIds: query.parent_id, parentKeys: query.parent_external_key }
        const request = listRequest(query, deps.clock)
        const isWide = filter.parentIds !== undefined || filter.parentKeys !== undefined
        const db = listDb(deps, orgId, request, isWide)
        const page = await listLocations(db, orgId, request, filter, withoutPath)
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
      description:
        'If `external_key` is absent, the service generates one, such as `LOC-001`. Set the parent with `parent_id` or `parent_external_key`; without either the location is a root.',
      body: {
        mediaType: 'application/json',
        name: 'LocationCreate',
        shape: createShape,
        example: { name: 'Dock 3', parent_external_key: 'HALL-A' },
      },
      success: singleResponse(LocationOut, 'The location', 201),
      errorStatuses: [409],
      async handle({ principal, body }) {
        const location = await createLocation(deps, principal.orgId, toDraft(body))
        return created(`${base}/locations/${location.id}`, { data: presentLocation(location) })
      },
    }),
    route({
      ...item,
      id: 'locations.get',
      method: 'GET',
      path: '/locations/{location_id}',
      scopes: ['locations:read'],
      summary: 'Read a location',
      success: singleResponse(LocationOut, 'The location'),
      async handle({ principal, params }) {
        const location = await getRecord(deps, locationRepository, principal.orgId, params.location_id)
        return ok({ data: presentLocation(location) })
      },
    }),
    route({
      ...item,
      id: 'locations.patch',
      method: 'PATCH',
      path: '/locations/{location_id}',
      scopes: ['locations:write'],
      summary: 'Update a location',
      description: patchDescription,
      body: {
        mediaType: 'application/merge-patch+json',
        name: 'LocationPatch',
        shape: patchShape,
        example: { parent_external_key: 'HALL-B' },
      },
      success: singleResponse(LocationOut, 'The location'),
      errorStatuses: [409],
      // Problems with server-managed fields are reported before any other problem of the body.
      async ensureExists({ principal, params, body }) {
        const location = await getRecord(deps, locationRepository, principal.orgId, params.location_id)
        throwIfAny(serverManagedErrors(body ?? {}, location))
      },
      async handle({ principal, params, body }) {
        const location = await changeLocation(deps, principal.orgId, params.location_id, toLocationPatch(body))
        return ok({ data: presentLocation(location) })
      },
    }),
    route({
      ...item,
      id: 'locations.delete',
      method: 'DELETE',
      path: '/locations/{location_id}',
      scopes: ['locations:write'],
      summary: 'Delete a location',
      description: 'Rejected with 409 while the location has live descendants or assets.',
      success: { status: 204, description: 'Deleted' },
      errorStatuses: [409],
      async handle({ principal, params }) {
        await deleteLocation(deps, principal.orgId, params.location_id)
        return noContent
      },
    }),
    route({
      ...item,
      id: 'locations.rename',
      method: 'POST',
      path: '/locations/{location_id}/rename',
      scopes: ['locations:write'],
      summary: 'Change the key of a location',
      description: 'A request with the current key changes nothing.',
      body: rename,
      success: singleResponse(LocationRenamed, 'The location under its new key'),
      errorStatuses: [409],
      async handle({ principal: { orgId }, params, body }) {
        const { record, descendantCount } = await renameLocation(deps, orgId, params.location_id, body.external_key)
        return ok({ data: { ...presentLocation(record), descendant_count_affected: descendantCount } })
      },
    }),
    route({
      ...item,
      id: 'locations.tags.attach',
      method: 'POST',
      path: '/locations/{location_id}/tags',
      scopes: ['locations:write'],
      summary: 'Attach a tag to a location',
      body: tagAttach,
      success: singleResponse(TagOut, 'The tag', 201),
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        const tag = await attachTag(deps, locationRepository, principal.orgId, params.location_id, draftOf(body))
        return { status: 201, body: { data: presentTag(tag) } }
      },
    }),
    route({
      ...common,
      id: 'locations.tags.detach',
      method: 'DELETE',
      path: '/locations/{location_id}/tags/{tag_id}',
      ids: ['location_id', 'tag_id'],
      scopes: ['locations:write'],
      summary: 'Detach a tag from a location',
      success: { status: 204, description: 'Detached' },
      async handle({ principal, params }) {
        await detachTag(deps, locationRepository, principal.orgId, params.location_id, params.tag_id)
        return noContent
      },
    }),
    route({
      ...treeRelation,
      id: 'locations.ancestors',
      method: 'GET',
      path: '/locations/{location_id}/ancestors',
      summary: 'List the ancestors of a location',
      description: 'From the root down to the parent.',
      handle: list('ancestors'),
    }),
    route({
      ...treeRelation,
      id: 'locations.children',
      method: 'GET',
      path: '/locations/{location_id}/children',
      summary: 'List the children of a location',
      description: 'By name.',
      handle: list('children'),
    }),
    route({
      ...treeRelation,
      id: 'locations.descendants',
      method: 'GET',
      path: '/locations/{location_id}/descendants',
      summary: 'List the descendants of a location',
      description: 'Depth-first, siblings by external_key.',
      handle: list('descendants'),
    }),
  ]
}
