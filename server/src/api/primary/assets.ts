import { listAssets } from '../../assets/assets.sql.ts'
import type { Asset, AssetDraft } from '../../assets/asset.ts'
import * as assets from '../../assets/commands.ts'
import { freeObject, readOnly, reference } from '../../http/fields.ts'
import type { AnyRoute } from '../../http/route.ts'
import { type Infer, nullable, optional } from '../../http/schema.ts'
import { type Wire, component } from '../../http/shape.ts'
import { isSameJson } from '../../kernel/json.ts'
import { mergePatch } from '../../kernel/merge-patch.ts'
import type { Needs } from '../../records/record.ts'
import { descriptionField, keyField, nameField } from '../shared/wire.ts'
import { listDb } from '../shared/list-db.ts'
import { listRequest, recordParameters } from './list-parameters.ts'
import { recordRoutes } from './record-routes.ts'
import { coreCreate, mergeState, statePatch, toCoreDraft } from './record-body.ts'
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

function merge(current: Asset, body: Infer<typeof patchShape>): Asset {
  // Metadata sent back as it was read changes nothing, although a null member would remove itself.
  const isKept = body.metadata === undefined || isSameJson(body.metadata, current.metadata)
  const metadata = isKept ? current.metadata : mergePatch(current.metadata, body.metadata!)
  return { ...mergeState(current, body), metadata: metadata as Asset['metadata'] }
}

export function assetRoutes(needs: Needs, base: string): AnyRoute[] {
  return recordRoutes({
    base,
    singular: 'asset',
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
      get: (orgId, id) => assets.getAsset(needs, orgId, id),
      create: (orgId, body) => assets.createAsset(needs, orgId, toDraft(body)),
      change: (orgId, id, body) => assets.changeAsset(needs, orgId, id, (current) => merge(current, body)),
      remove: (orgId, id) => assets.deleteAsset(needs, orgId, id),
      rename: (orgId, id, key) => assets.renameAsset(needs, orgId, id, key),
      attach: (orgId, id, tag) => assets.attachAssetTag(needs, orgId, id, tag),
      detach: (orgId, id, tagId) => assets.detachAssetTag(needs, orgId, id, tagId),
    },
  })
}
