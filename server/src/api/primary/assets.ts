import { assetRepository, listAssets } from '../../assets/assets.sql.ts'
import type { Asset, AssetDraft, AssetPatch } from '../../assets/asset.ts'
import { changeAsset, createAsset, deleteAsset } from '../../assets/commands.ts'
import { type Output, component } from '../../http/openapi/response-schema.ts'
import type { Principal } from '../../http/principal.ts'
import { type AnyRoute, created, noContent, ok, route } from '../../http/route.ts'
import { jsonObject, readOnly, id } from '../../http/validation/fields.ts'
import { type Infer, nullable, optional } from '../../http/validation/schema.ts'
import { throwIfAny } from '../../kernel/errors.ts'
import { attachTag, detachTag, getRecord, renameRecord } from '../../records/commands.ts'
import { serverManagedErrors } from '../../records/read-only-fields.ts'
import type { RecordDeps } from '../../records/record.ts'
import { listDb } from '../shared/list-db.ts'
import { descriptionField, keyField, nameField } from '../../records/fields.ts'
import { listBody, pageResponse, singleResponse } from '../shared/wire.ts'
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
  ...recordCreate,
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
  ...toRecordDraft(body),
  metadata: body.metadata ?? {},
})

const toAssetPatch = (body: Infer<typeof patchShape>): AssetPatch => ({
  ...toPatch(body),
  metadata: body.metadata && { merge: body.metadata },
})

export const AssetRenamed = renamed(AssetOut, 'AssetRenamed')

export function assetRoutes(deps: RecordDeps, base: string): AnyRoute[] {
  const common = { group: 'Assets', access: 'any' } as const
  const item = {
    ...common,
    ids: ['asset_id'],
    async ensureExists({ principal, params }: { principal: Principal; params: { asset_id: number } }) {
      await getRecord(deps, assetRepository, principal.orgId, params.asset_id)
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
      description: 'Lists assets that are valid now; `include_deleted` adds deleted assets.',
      query: { parameters: recordParameters },
      success: pageResponse(AssetOut, 'A page of assets'),
      async handle({ principal: { orgId }, query }) {
        const request = listRequest(query, deps.clock)
        const page = await listAssets(listDb(deps, orgId, request), orgId, request)
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
      description: 'If `external_key` is absent, the service generates one, such as `ASSET-0001`.',
      body: {
        mediaType: 'application/json',
        name: 'AssetCreate',
        shape: createShape,
        example: {
          external_key: 'PJ-7',
          name: 'Pallet jack 7',
          tags: [{ tag_type: 'barcode', value: '4006381333931' }],
        },
      },
      success: singleResponse(AssetOut, 'The asset', 201),
      errorStatuses: [409],
      async handle({ principal, body }) {
        const asset = await createAsset(deps, principal.orgId, toDraft(body))
        return created(`${base}/assets/${asset.id}`, { data: presentAsset(asset) })
      },
    }),
    route({
      ...item,
      id: 'assets.get',
      method: 'GET',
      path: '/assets/{asset_id}',
      scopes: ['assets:read'],
      summary: 'Read an asset',
      success: singleResponse(AssetOut, 'The asset'),
      async handle({ principal, params }) {
        const asset = await getRecord(deps, assetRepository, principal.orgId, params.asset_id)
        return ok({ data: presentAsset(asset) })
      },
    }),
    route({
      ...item,
      id: 'assets.patch',
      method: 'PATCH',
      path: '/assets/{asset_id}',
      scopes: ['assets:write'],
      summary: 'Update an asset',
      description: patchDescription,
      body: {
        mediaType: 'application/merge-patch+json',
        name: 'AssetPatch',
        shape: patchShape,
        example: { name: 'Pallet jack 7b', metadata: { owner: null } },
      },
      success: singleResponse(AssetOut, 'The asset'),
      // Problems with server-managed fields are reported before any other problem of the body.
      async ensureExists({ principal, params, body }) {
        const asset = await getRecord(deps, assetRepository, principal.orgId, params.asset_id)
        throwIfAny(serverManagedErrors(body ?? {}, asset))
      },
      async handle({ principal, params, body }) {
        const asset = await changeAsset(deps, principal.orgId, params.asset_id, toAssetPatch(body))
        return ok({ data: presentAsset(asset) })
      },
    }),
    route({
      ...item,
      id: 'assets.delete',
      method: 'DELETE',
      path: '/assets/{asset_id}',
      scopes: ['assets:write'],
      summary: 'Delete an asset',
      description: 'Soft delete: queries no longer return the asset, and its key and tags can be reused at once.',
      success: { status: 204, description: 'Deleted' },
      async handle({ principal, params }) {
        await deleteAsset(deps, principal.orgId, params.asset_id)
        return noContent
      },
    }),
    route({
      ...item,
      id: 'assets.rename',
      method: 'POST',
      path: '/assets/{asset_id}/rename',
      scopes: ['assets:write'],
      summary: 'Change the key of an asset',
      description: 'A request with the current key changes nothing.',
      body: rename,
      success: singleResponse(AssetRenamed, 'The asset under its new key'),
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        const { record } = await renameRecord(
          deps,
          assetRepository,
          principal.orgId,
          params.asset_id,
          body.external_key,
        )
        return ok({ data: { ...presentAsset(record), descendant_count_affected: 0 } })
      },
    }),
    route({
      ...item,
      id: 'assets.tags.attach',
      method: 'POST',
      path: '/assets/{asset_id}/tags',
      scopes: ['assets:write'],
      summary: 'Attach a tag to an asset',
      body: tagAttach,
      success: singleResponse(TagOut, 'The tag', 201),
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        const tag = await attachTag(deps, assetRepository, principal.orgId, params.asset_id, draftOf(body))
        return { status: 201, body: { data: presentTag(tag) } }
      },
    }),
    route({
      ...common,
      id: 'assets.tags.detach',
      method: 'DELETE',
      path: '/assets/{asset_id}/tags/{tag_id}',
      ids: ['asset_id', 'tag_id'],
      scopes: ['assets:write'],
      summary: 'Detach a tag from an asset',
      success: { status: 204, description: 'Detached' },
      async handle({ principal, params }) {
        await detachTag(deps, assetRepository, principal.orgId, params.asset_id, params.tag_id)
        return noContent
      },
    }),
  ]
}
