import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { get, getOne, patch, post, postWithShortTimeout, remove } from './request.ts'
import type { Asset, AssetAtLocation, AssetLocation, HistoryRow, List, Stay, Tag } from './types.ts'

export interface AssetListRequest {
  q?: string | undefined
  sort?: string | undefined
  is_active?: boolean | undefined
  external_key?: readonly string[]
  limit: number
  offset: number
}

export const assetKeys = {
  all: ['assets'] as const,
  atLocation: ['assets', 'list', 'at-location'] as const,
  one: (id: number) => ['assets', 'one', id] as const,
  history: (id: number) => ['assets', 'one', id, 'history'] as const,
}

export const listAssets = (request: AssetListRequest) =>
  queryOptions({
    queryKey: [...assetKeys.all, 'list', request],
    queryFn: ({ signal }) => get<List<Asset>>('/assets', { ...request }, signal),
    placeholderData: keepPreviousData,
  })

export const oneAsset = (id: number) =>
  queryOptions({
    queryKey: assetKeys.one(id),
    queryFn: ({ signal }) => getOne<Asset>(`/assets/${id}`, undefined, signal),
  })

/** The assets that were last seen at a location or below it. */
export const listAssetsAtLocation = (id: number, request: AssetListRequest) =>
  queryOptions({
    queryKey: [...assetKeys.atLocation, id, request],
    queryFn: ({ signal }) => get<List<AssetAtLocation>>('/assets-at-location', { location_id: id, ...request }, signal),
    placeholderData: keepPreviousData,
  })

/** Assets in the order in which they were last seen; those that were never seen are at the end. */
export const listAssetsByLastSeen = (request: AssetListRequest & { location_id?: number | undefined }) =>
  queryOptions({
    queryKey: [...assetKeys.all, 'list', 'by-last-seen', request],
    queryFn: ({ signal }) => get<List<AssetAtLocation>>('/assets-by-last-seen', { ...request }, signal),
    placeholderData: keepPreviousData,
  })

export interface PositionRequest {
  asset_id?: readonly number[]
  location_id?: number | undefined
  include_descendants?: boolean
  q?: string | undefined
  sort?: string | undefined
  at?: string | undefined
  limit: number
  offset: number
}

/** Where assets were last seen. */
export const listPositions = (request: PositionRequest) =>
  queryOptions({
    queryKey: ['positions', request],
    queryFn: ({ signal }) => get<List<AssetLocation>>('/reports/asset-locations', { ...request }, signal),
    placeholderData: keepPreviousData,
  })

export const listHistory = (
  id: number,
  request: { from?: string; to?: string; limit: number; offset: number; sort?: string },
) =>
  queryOptions({
    queryKey: [...assetKeys.history(id), request],
    queryFn: ({ signal }) => get<List<HistoryRow>>(`/assets/${id}/history`, { ...request }, signal),
    placeholderData: keepPreviousData,
  })

/** The stays of an asset in a period, latest first. */
export const listStays = (id: number, request: { from: string; to?: string; limit: number; offset: number }) =>
  queryOptions({
    queryKey: [...assetKeys.history(id), 'stays', request],
    queryFn: ({ signal }) => get<List<Stay>>(`/asset-stays/${id}`, { ...request }, signal),
    placeholderData: keepPreviousData,
  })

export const createAsset = (body: object): Promise<Asset> => post('/assets', body)
export const patchAsset = (id: number, body: object): Promise<Asset> => patch(`/assets/${id}`, body)
export const deleteAsset = (id: number): Promise<void> => remove(`/assets/${id}`)

/** Records that the operator sees these assets at the location now. */
export const saveSightings = (locationKey: string, assetKeys: readonly string[]): Promise<void> =>
  postWithShortTimeout('/inventory/save', { location_identifier: locationKey, asset_identifiers: assetKeys })

/** The same for the "Set location" dialog: with a note, which becomes part of the history. */
export const setLocation = (locationKey: string, assetKeys: readonly string[], note: string | null): Promise<void> =>
  post('/sightings', { location_identifier: locationKey, asset_identifiers: assetKeys, note })

export type RecordKind = 'assets' | 'locations'

export const renameRecord = (
  kind: RecordKind,
  id: number,
  key: string,
): Promise<{ descendant_count_affected: number }> => post(`/${kind}/${id}/rename`, { external_key: key })

export const attachTag = (kind: RecordKind, id: number, tag: { tag_type: string; value: string }): Promise<Tag> =>
  post(`/${kind}/${id}/tags`, tag)

export const detachTag = (kind: RecordKind, id: number, tagId: number): Promise<void> =>
  remove(`/${kind}/${id}/tags/${tagId}`)

const nameBatchSize = 80

async function fetchAssetNames(keys: readonly string[], signal: AbortSignal): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (let start = 0; start < keys.length; start += nameBatchSize) {
    const query = { external_key: keys.slice(start, start + nameBatchSize), limit: 200 }
    for (const one of (await get<List<Asset>>('/assets', query, signal)).data) names.set(one.external_key, one.name)
  }
  return names
}

/** Loads the names of assets by key, for responses that contain only keys. Returns the key until the name is loaded. */
export function useAssetNames(keys: readonly string[]): (key: string) => string {
  const wanted = [...new Set(keys)].sort().slice(0, 400)
  const { data } = useQuery({
    queryKey: [...assetKeys.all, 'names', wanted],
    queryFn: ({ signal }) => fetchAssetNames(wanted, signal),
    enabled: wanted.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
  return (key) => data?.get(key) ?? key
}
