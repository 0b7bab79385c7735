import { type AssetPatch, type AssetWithLocation, assetTypes } from '../../assets/asset.ts'
import { listAssetsWithLocation, assetWithLocationRepository } from '../../assets/assets.sql.ts'
import { deleteAsset } from '../../assets/commands.ts'
import { boolean, jsonObject, oneOf } from '../../http/validation/fields.ts'
import { booleanParam, keysParam, searchParam, sortParam } from '../../http/validation/parameters.ts'
import type { AnyRoute } from '../../http/route.ts'
import { type Infer, described, optional } from '../../http/validation/schema.ts'
import { type Output, component } from '../../http/openapi/response-schema.ts'
import { now } from '../../kernel/clock.ts'
import {
  type AssetLocationDeps,
  changeAssetAtLocation,
  createAssetAtLocation,
} from '../../tracking/recording/asset-at-location.ts'
import { keyField, paging } from '../shared/wire.ts'
import { listDb } from '../shared/list-db.ts'
import { recordRoutes } from './record-routes.ts'
import { createBody, exampleAfter, outShape, present, sortedBy, toDraft, toPatch, updateBody } from './wire.ts'

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
  return recordRoutes(deps, {
    base,
    repository: assetWithLocationRepository,
    singular: 'asset',
    paths: {
      collection: '/assets',
      item: '/assets/{identifier}',
      identifiers: '/assets/{identifier}/identifiers',
      identifier: '/assets/{identifier}/identifiers/{identifierId}',
    },
    fixedSegments: [],
    out: AssetOut,
    present: presentAsset,
    create: {
      shape: createShape,
      example: {
        identifier: 'PJ-7',
        name: 'Pallet jack 7',
        identifiers: [{ type: 'barcode', value: '4006381333931' }],
      },
      description: 'If `identifier` is absent, the service generates one, such as `ASSET-0001`.',
    },
    update: {
      shape: updateShape,
      example: { name: 'Pallet jack 7b' },
      description: 'Only fields present in the body change. `metadata` is replaced as a whole.',
    },
    remove: {
      description:
        'Soft delete: queries no longer return the asset, and its key and identifiers can be reused at once.',
      errorStatuses: [],
    },
    query: { parameters },
    commands: {
      list: (orgId, { limit, offset, q, is_active: isActive, type, location, ...query }) => {
        const request = { limit, offset, filter: { q, isActive }, sort: sortedBy(query.sort, sortNames) }
        const filter = { type, locationKeys: location }
        const db = listDb(deps, orgId, { q, offset, isWide: location !== undefined })
        return listAssetsWithLocation(db, orgId, { ...request, now: now(deps.clock) }, filter)
      },
      create: (orgId, body) => {
        const draft = { ...toDraft(body), metadata: body.metadata ?? {}, type: body.type ?? 'asset' }
        return createAssetAtLocation(deps, orgId, draft, body.current_location)
      },
      change: (orgId, ref, body) => changeAssetAtLocation(deps, orgId, ref, body.current_location, toAssetPatch(body)),
      remove: (orgId, ref) => deleteAsset(deps, orgId, ref),
    },
  })
}
