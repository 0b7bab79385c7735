import { type QueryClient, keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { get, getOne } from './request.ts'
import type { List, Move, Overview, LocationCount, QuietAsset } from './types.ts'

export const overview = () =>
  queryOptions({
    queryKey: ['overview'],
    queryFn: ({ signal }) => getOne<Overview>('/overview', undefined, signal),
    staleTime: 20_000,
  })

/** The server caches its counts for about ten seconds, so the overview is fetched several times after a change. */
const refetchDelaysMs = [0, 1200, 5000, 15_000, 30_000]

export function refreshOverview(queries: QueryClient): void {
  for (const ms of refetchDelaysMs) setTimeout(() => void queries.invalidateQueries({ queryKey: ['overview'] }), ms)
}

export const recentMoves = (request: { limit: number; offset?: number; asset_id?: number; location_id?: number }) =>
  queryOptions({
    queryKey: ['moves', request],
    queryFn: ({ signal }) => get<List<Move>>('/moves', { ...request }, signal),
    placeholderData: keepPreviousData,
  })

export const unseenAssets = (request: { hours: number; limit: number; offset: number }) =>
  queryOptions({
    queryKey: ['unseen-assets', request],
    queryFn: ({ signal }) => get<List<QuietAsset>>('/quiet-assets', request, signal),
    placeholderData: keepPreviousData,
  })

/** Every location by id, with its name and the number of assets there. */
export function useLocationCounts(): ReadonlyMap<number, LocationCount> {
  const { data } = useQuery(overview())
  return useMemo(() => new Map((data?.locations ?? []).map((one) => [one.location_id, one])), [data])
}
