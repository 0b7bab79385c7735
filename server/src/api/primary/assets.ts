import { assetStore, listAssets } from '../../assets/assets.sql.ts'
import type { Asset, AssetDraft, AssetPatch } from '../../assets/asset.ts'
import { changeAsset, createAsset, deleteAsset } from '../../assets/commands.ts'
import { freeObject, readOnly, reference } from '../../http/fields.ts'
import type { AnyRoute } from '../../http/route.ts'
import { type Infer, nullable, optional } from '../../http/schema.ts'
import { type Wire, component } from '../../http/shape.ts'
import { renameRecord } from '../../records/commands.ts'
import type { Needs } from '../../records/record.ts'
import { descriptionField, keyField, nameField } from '../shared/wire.ts'
import { listDb } from '../shared/list-db.ts'
import { listRequest, recordParameters } from './list-parameters.ts'
import { recordRoutes } from './record-routes.ts'
import { coreCreate, statePatch, toCoreDraft, toPatch } from './record-body.ts'
import { presentState, stateCreate, stateExample, stateShape } from './wire.ts'

const placeIsScanned = {
  location_id: optional(readOnly({ type: 'integer', format: 'int64' })),
  location_external_key: optional(readOnly({ type: 'string' })),
}

export const AssetOut = component(
  'Asset',
  {
    id: reference,
    external_key: keyField,
    name: nameField,
    description: nullable(descriptionField),
    metadata: freeObject,
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

function presentAsset(asset: Asset): Wire<(typeof AssetOut)['shape']> {
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
  metadata: optional(freeObject),
  ...stateCreate,
  ...placeIsScanned,
}

const patchShape = {
  ...statePatch.before,
  metadata: optional(freeObject),
  ...statePatch.after,
  ...placeIsScanned,
}

const toDraft = (body: Infer<typeof createShape>): AssetDraft => ({
  ...toCoreDraft(body),
  metadata: body.metadata ?? {},
})

const toAssetPatch = (body: Infer<typeof patchShape>): AssetPatch => ({
  ...toPatch(body),
  metadata: body.metadata && { merge: body.metadata },
})

export function assetRoutes(needs: Needs, base: string): AnyRoute[] {
  return recordRoutes(needs, {
    base,
    store: assetStore,
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
      description: 'Without `external_key` the service generates one, such as `ASSET-0001`.',
    },
    patch: { shape: patchShape, example: { name: 'Pallet jack 7b', metadata: { owner: null } }, refusals: [] },
    remove: {
      description: 'Soft: the record leaves all queries, and its key and tags are free at once.',
      refusals: [],
    },
    query: { parameters: recordParameters },
    commands: {
      list: (orgId, query) => listAssets(listDb(needs, orgId, query.q), orgId, listRequest(query, needs.clock)),
      create: (orgId, body) => createAsset(needs, orgId, toDraft(body)),
      change: (orgId, id, body) => changeAsset(needs, orgId, id, toAssetPatch(body)),
      remove: (orgId, id) => deleteAsset(needs, orgId, id),
      rename: (orgId, id, key) => renameRecord(needs, assetStore, orgId, id, key),
    },
  })
}
