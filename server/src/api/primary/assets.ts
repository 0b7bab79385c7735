import { assetRepository, listAssets } from '../../assets/assets.sql.ts'
import type { Asset, AssetDraft, AssetPatch } from '../../assets/asset.ts'
import { changeAsset, createAsset, deleteAsset } from '../../assets/commands.ts'
import { jsonObject, readOnly, id } from '../../http/validation/fields.ts'
import type { AnyRoute } from '../../http/route.ts'
import { type Infer, nullable, optional } from '../../http/validation/schema.ts'
import { type Output, component } from '../../http/openapi/response-schema.ts'
import { renameRecord } from '../../records/commands.ts'
import type { RecordDeps } from '../../records/record.ts'
import { descriptionField, keyField, nameField } from '../shared/wire.ts'
import { listDb } from '../shared/list-db.ts'
import { listRequest, recordParameters } from './list-parameters.ts'
import { recordRoutes } from './record-routes.ts'
import { coreCreate, statePatch, toCoreDraft, toPatch } from './record-body.ts'
import { presentState, stateCreate, stateExample, stateShape } from './wire.ts'

const locationIsReadOnly = {
  location_id: optional(readOnly({ type: 'integer', format: 'int64' })),
  location_external_key: optional(readOnly({ type: 'string' })),
}

export const AssetOut = component(
  'Asset',
  {
    id: id,
    external_key: keyField,
    name: nameField,
    description: nullable(descriptionField),
    metadata: jsonObject,
    ...stateShape,
  },
  {
    id: 4503170118275611,
    external_key: 'ASSET-0001',
    name: 'Pallet jack 7',
    description: null,
    metadata: { owner: 'dock 3' },
    ...stateExample,
  },
)

function presentAsset(asset: Asset): Output<(typeof AssetOut)['shape']> {
  return {
    id: asset.id,
    external_key: asset.externalKey,
    name: asset.name,
    description: asset.description,
    metadata: asset.metadata,
    ...presentState(asset),
  }
}

const createShape = {
  ...coreCreate,
  metadata: optional(jsonObject),
  ...stateCreate,
  ...locationIsReadOnly,
}

const patchShape = {
  ...statePatch.before,
  metadata: optional(jsonObject),
  ...statePatch.after,
  ...locationIsReadOnly,
}

const toDraft = (body: Infer<typeof createShape>): AssetDraft => ({
  ...toCoreDraft(body),
  metadata: body.metadata ?? {},
})

const toAssetPatch = (body: Infer<typeof patchShape>): AssetPatch => ({
  ...toPatch(body),
  metadata: body.metadata && { merge: body.metadata },
})

export function assetRoutes(deps: RecordDeps, base: string): AnyRoute[] {
  return recordRoutes(deps, {
    base,
    repository: assetRepository,
    singular: 'asset',
    paths: {
      collection: '/assets',
      item: '/assets/{asset_id}',
      rename: '/assets/{asset_id}/rename',
      tags: '/assets/{asset_id}/tags',
      tag: '/assets/{asset_id}/tags/{tag_id}',
    },
    out: AssetOut,
    present: presentAsset,
    create: {
      shape: createShape,
      example: { external_key: 'PJ-7', name: 'Pallet jack 7', tags: [{ tag_type: 'barcode', value: '4006381333931' }] },
      description: 'If `external_key` is absent, the service generates one, such as `ASSET-0001`.',
    },
    patch: { shape: patchShape, example: { name: 'Pallet jack 7b', metadata: { owner: null } }, errorStatuses: [] },
    remove: {
      description: 'Soft delete: queries no longer return the asset, and its key and tags can be reused at once.',
      errorStatuses: [],
    },
    query: { parameters: recordParameters },
    commands: {
      list: (orgId, query) => listAssets(listDb(deps, orgId, query), orgId, listRequest(query, deps.clock)),
      create: (orgId, body) => createAsset(deps, orgId, toDraft(body)),
      change: (orgId, id, body) => changeAsset(deps, orgId, id, toAssetPatch(body)),
      remove: (orgId, id) => deleteAsset(deps, orgId, id),
      rename: (orgId, id, key) => renameRecord(deps, assetRepository, orgId, id, key),
    },
  })
}
