import { type AssetPatch, type AssetWithLocation, assetTypes } from '../../assets/asset.ts'
import { listAssetsWithLocation, assetWithLocationRepository } from '../../assets/assets.sql.ts'
import { deleteAsset } from '../../assets/commands.ts'
import { type Output, component } from '../../http/openapi/response-schema.ts'
import type { Principal } from '../../http/principal.ts'
import { type AnyRoute, created, noContent, ok, route } from '../../http/route.ts'
import { boolean, jsonObject, oneOf } from '../../http/validation/fields.ts'
import { booleanParam, keysParam, searchParam, sortParam } from '../../http/validation/parameters.ts'
import { type Infer, described, optional } from '../../http/validation/schema.ts'
import { now } from '../../kernel/clock.ts'
import { attachTag, detachTag, getRecord } from '../../records/commands.ts'
import {
  type AssetLocationDeps,
  changeAssetAtLocation,
  createAssetAtLocation,
} from '../../tracking/recording/asset-at-location.ts'
import { listDb } from '../shared/list-db.ts'
import { keyField } from '../../records/fields.ts'
import { listBody, pageResponse, paging, singleResponse } from '../shared/wire.ts'
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

const typeField = oneOf(assetTypes, { isClosed: true })

export const AssetOut = component(
  'Asset',
  {
    ...outShape.before,
    type: typeField,
    current_location: optional(described(keyField, 'Where it was last seen; absent when that is nowhere.')),
    is_active: boolean,
    metadata: jsonObject,
    ...outShape.after,
  },
  {
    surrogate_id: 4503170118275611,
    identifier: 'ASSET-0001',
    name: 'Pallet jack 7',
    type: 'asset',
    current_location: 'DOCK-3',
    is_active: true,
    metadata: { owner: 'dock 3' },
    ...exampleAfter,
  },
)

const presentAsset = (asset: AssetWithLocation): Output<(typeof AssetOut)['shape']> => ({
  ...present.before(asset),
  type: asset.type,
  current_location: asset.locationKey ?? undefined,
  is_active: asset.isActive,
  metadata: asset.metadata,
  ...present.after(asset),
})

const ownBody = {
  type: optional(typeField),
  current_location: optional(described(keyField, 'Places the asset there now, as an operator’s save would.')),
}

const createShape = {
  identifier: optional(keyField),
  ...createBody.before,
  ...ownBody,
  is_active: optional(boolean),
  metadata: optional(jsonObject),
  ...createBody.after,
}

const updateShape = {
  ...updateBody.before,
  ...ownBody,
  is_active: optional(boolean),
  metadata: optional(jsonObject),
  ...updateBody.after,
}

const toAssetPatch = (body: Infer<typeof updateShape>): AssetPatch => ({
  ...toPatch(body),
  type: body.type,
  metadata: body.metadata && { replace: body.metadata },
})

const parameters = {
  ...paging,
  location: {
    ...keysParam,
    description: 'The location where the asset was last seen. Repeat the parameter to match any of several locations.',
  },
  is_active: booleanParam,
  type: { ...searchParam, description: `One of ${assetTypes.join(', ')}.` },
  q: searchParam,
  sort: sortParam(['identifier', 'name', 'created_at', 'updated_at'], [{ field: 'identifier', descending: false }]),
}

const sortNames = {
  identifier: 'external_key',
  name: 'name',
  created_at: 'created_at',
  updated_at: 'updated_at',
} as const

export function assetRoutes(deps: AssetLocationDeps, base: string): AnyRoute[] {
  const common = { group: 'Assets', access: 'any' } as const
  const find = (orgId: number, key: string) => getRecord(deps, assetWithLocationRepository, orgId, { key })
  const item = {
    ...common,
    keys: ['identifier'],
    async ensureExists({ principal, params }: { principal: Principal; params: { identifier: string } }) {
      await find(principal.orgId, params.identifier)
    },
  } as const
  return [
    route({
      ...common,
      id: 'assets.list',
      method: 'GET',
      path: '/assets',
      scopes: ['assets:read'],
      summary: 'List assets',
      description: 'Lists assets that are valid now.',
      query: { parameters },
      success: pageResponse(AssetOut, 'A page of assets'),
      async handle({ principal: { orgId }, query }) {
        const { limit, offset, q, is_active: isActive, type, location } = query
        const sort = sortedBy(query.sort, sortNames)
        const request = { limit, offset, filter: { q, isActive }, sort, now: now(deps.clock) }
        const filter = { type, locationKeys: location }
        const db = listDb(deps, orgId, request, type !== undefined || location !== undefined)
        const page = await listAssetsWithLocation(db, orgId, request, filter)
        return ok(listBody(page, query, presentAsset))
      },
    }),
    route({
      ...common,
      id: 'assets.create',
      method: 'POST',
      path: '/assets',
      scopes: ['assets:write'],
      summary: 'Create an asset',
      description: 'If `identifier` is absent, the service generates one, such as `ASSET-0001`.',
      body: {
        mediaType: 'application/json',
        name: 'AssetCreate',
        shape: createShape,
        example: {
          identifier: 'PJ-7',
          name: 'Pallet jack 7',
          identifiers: [{ type: 'barcode', value: '4006381333931' }],
        },
      },
      success: singleResponse(AssetOut, 'The asset', 201),
      errorStatuses: [409],
      async handle({ principal, body }) {
        const draft = { ...toDraft(body), metadata: body.metadata ?? {}, type: body.type ?? 'asset' }
        const asset = await createAssetAtLocation(deps, principal.orgId, draft, body.current_location)
        return created(`${base}/assets/${encodeURIComponent(asset.externalKey)}`, { data: presentAsset(asset) })
      },
    }),
    route({
      ...item,
      id: 'assets.get',
      method: 'GET',
      path: '/assets/{identifier}',
      scopes: ['assets:read'],
      summary: 'Read an asset',
      success: singleResponse(AssetOut, 'The asset'),
      async handle({ principal, params }) {
        return ok({ data: presentAsset(await find(principal.orgId, params.identifier)) })
      },
    }),
    route({
      ...item,
      id: 'assets.update',
      method: 'PUT',
      path: '/assets/{identifier}',
      scopes: ['assets:write'],
      summary: 'Update an asset',
      description: 'Only fields present in the body change. `metadata` is replaced as a whole.',
      body: {
        mediaType: 'application/json',
        name: 'AssetUpdate',
        shape: updateShape,
        example: { name: 'Pallet jack 7b' },
      },
      success: singleResponse(AssetOut, 'The asset'),
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        const ref = { key: params.identifier }
        const patch = toAssetPatch(body)
        const asset = await changeAssetAtLocation(deps, principal.orgId, ref, body.current_location, patch)
        return ok({ data: presentAsset(asset) })
      },
    }),
    route({
      ...item,
      id: 'assets.delete',
      method: 'DELETE',
      path: '/assets/{identifier}',
      scopes: ['assets:write'],
      summary: 'Delete an asset',
      description:
        'Soft delete: queries no longer return the asset, and its key and identifiers can be reused at once.',
      success: { status: 204, description: 'Deleted' },
      async handle({ principal, params }) {
        await deleteAsset(deps, principal.orgId, { key: params.identifier })
        return noContent
      },
    }),
    route({
      ...item,
      id: 'assets.identifiers.attach',
      method: 'POST',
      path: '/assets/{identifier}/identifiers',
      scopes: ['assets:write'],
      summary: 'Attach an identifier to an asset',
      body: identifierAttach,
      success: singleResponse(IdentifierOut, 'The identifier', 201),
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        const ref = { key: params.identifier }
        const tag = await attachTag(deps, assetWithLocationRepository, principal.orgId, ref, draftOf(body))
        return { status: 201, body: { data: presentIdentifier(tag) } }
      },
    }),
    route({
      ...common,
      id: 'assets.identifiers.detach',
      method: 'DELETE',
      path: '/assets/{identifier}/identifiers/{identifierId}',
      keys: ['identifier'],
      ids: ['identifierId'],
      scopes: ['assets:write'],
      summary: 'Detach an identifier from an asset',
      success: { status: 204, description: 'Detached' },
      async handle({ principal, params }) {
        const ref = { key: params.identifier }
        await detachTag(deps, assetWithLocationRepository, principal.orgId, ref, params.identifierId)
        return noContent
      },
    }),
  ]
}
