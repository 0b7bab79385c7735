import { flag } from '../../http/fields.ts'
import { boolean, keys, search, sort } from '../../http/query.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { type Field, described, nullable, optional } from '../../http/schema.ts'
import { type Wire, component, listExample, listOfAll } from '../../http/shape.ts'
import { now } from '../../kernel/clock.ts'
import { changeLocation, createLocation, deleteLocation, locationKin, withTrail } from '../../locations/commands.ts'
import type { ParentRef, RootedLocation } from '../../locations/location.ts'
import { rooted, rootedLocationStore } from '../../locations/locations.sql.ts'
import { listRootedLocations } from '../../locations/paths.sql.ts'
import type { Needs } from '../../records/record.ts'
import { keyField, listAnswer, paging, wholeNumber } from '../shared/wire.ts'
import { listDb } from '../shared/list-db.ts'
import { recordRoutes } from './record-routes.ts'
import { createBody, exampleAfter, outShape, present, sortedBy, toDraft, toPatch, updateBody } from './wire.ts'

const anyText: Field<string> = { schema: { type: 'string' }, read: String }

export const LocationOut = component(
  'Location',
  {
    ...outShape.before,
    parent_identifier: optional(described(keyField, 'Absent at a root.')),
    parent: optional(described(keyField, 'The same as `parent_identifier`.')),
    path: described(anyText, 'The identifiers from the root down, joined by `/`.'),
    depth: described(wholeNumber, '0 at a root.'),
    is_active: flag,
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

const presentLocation = (location: RootedLocation): Wire<(typeof LocationOut)['shape']> => ({
  ...present.before(location),
  parent_identifier: location.parentKey ?? undefined,
  parent: location.parentKey ?? undefined,
  path: location.trail.join('/'),
  depth: location.trail.length - 1,
  is_active: location.isActive,
  ...present.after(location),
})

const ownBody = {
  parent_identifier: optional(described(nullable(keyField), 'null makes it a root.')),
  is_active: optional(flag),
}

const createShape = { identifier: keyField, ...createBody.before, ...ownBody, ...createBody.after }
const updateShape = { ...updateBody.before, ...ownBody, ...updateBody.after }

const parentOf = ({ parent_identifier: key }: { parent_identifier?: string | null }): ParentRef =>
  key === undefined ? {} : { key }

const parameters = {
  ...paging,
  parent: keys,
  is_active: boolean,
  q: search,
  sort: sort(['path', 'identifier', 'name', 'created_at'], [{ field: 'path', descending: false }]),
}

const sortNames = { path: 'path', identifier: 'external_key', name: 'name', created_at: 'created_at' } as const

export function locationRoutes(needs: Needs, base: string): AnyRoute[] {
  const routes = recordRoutes(needs, {
    base,
    store: rootedLocationStore,
    singular: 'location',
    paths: {
      collection: '/locations',
      item: '/locations/{identifier}',
      identifiers: '/locations/{identifier}/identifiers',
      identifier: '/locations/{identifier}/identifiers/{identifierId}',
    },
    fixedWords: ['current'],
    out: LocationOut,
    present: presentLocation,
    create: {
      shape: createShape,
      example: { identifier: 'DOCK-3', name: 'Dock 3', parent_identifier: 'HALL-A' },
      description: 'Without `parent_identifier` the location is a root.',
    },
    update: {
      shape: updateShape,
      example: { parent_identifier: 'HALL-B' },
      description: 'Only fields present in the body change.',
    },
    remove: { description: 'Refused while live locations lie below it or assets are placed in it.', refusals: [409] },
    query: { parameters },
    commands: {
      list: (orgId, { limit, offset, q, is_active: isActive, parent, ...query }) => {
        const request = { limit, offset, filter: { q, isActive }, sort: sortedBy(query.sort, sortNames) }
        return listRootedLocations(
          listDb(needs, orgId, q),
          orgId,
          { ...request, now: now(needs.clock) },
          { parentKeys: parent },
        )
      },
      create: async (orgId, body) => {
        const made = await createLocation(needs, orgId, { ...toDraft(body), parent: parentOf(body) })
        return withTrail(needs, orgId, made)
      },
      change: async (orgId, ref, body) => {
        const changed = await changeLocation(needs, orgId, ref, { ...toPatch(body), parent: parentOf(body) })
        return withTrail(needs, orgId, changed)
      },
      remove: (orgId, ref) => deleteLocation(needs, orgId, ref),
    },
  })
  return [
    ...routes,
    kinRoute(needs, 'ancestors', '/locations/{identifier}/ancestors'),
    kinRoute(needs, 'children', '/locations/{identifier}/children'),
    kinRoute(needs, 'descendants', '/locations/{identifier}/descendants'),
  ]
}

const kinDescriptions = {
  ancestors: 'From the root down to the parent.',
  children: 'By name.',
  descendants: 'Depth-first, siblings by identifier.',
} as const

function kinRoute(needs: Needs, kin: keyof typeof kinDescriptions, path: string): AnyRoute {
  return route({
    id: `locations.${kin}`,
    method: 'GET',
    path,
    group: 'Locations',
    access: 'any',
    scopes: ['locations:read'],
    keys: ['identifier'],
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
      const ref = { key: params.identifier }
      const page = await locationKin(needs, caller.orgId, ref, kin, query, rooted)
      return ok(listAnswer(page, query, presentLocation))
    },
  })
}
