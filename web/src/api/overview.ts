import { type QueryClient, keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { get, getOne } from './request.ts'
import type { Attention, List, LocationCount, Move, MoveCount, NeverSeenAsset, Overview, UnseenAsset } from './types.ts'

export const overview = () =>
  queryOptions({
    queryKey: ['overview'],
    queryFn: ({ signal }) => getOne<Overview>('/overview', undefined, signal),
    staleTime: 20_000,
  })

/**
 * Problems with readers, tags, webhooks and imports. The live stream does not have an event for each of them, so the page
 * polls.
 */
export const attention = () =>
  queryOptions({
    queryKey: ['attention'],
    queryFn: ({ signal }) => getOne<Attention>('/attention', undefined, signal),
    refetchInterval: 30_000,
  })

/** The server caches its counts for a second, and counting may take seconds, so the overview is fetched several times. */
const refetchDelaysMs = [0, 1200, 5000, 15_000, 30_000]

export function refreshOverview(queries: QueryClient): void {
  for (const ms of refetchDelaysMs) setTimeout(() => void queries.invalidateQueries({ queryKey: ['overview'] }), ms)
}

export const latestMoves = (limit: number) =>
  queryOptions({
    queryKey: ['moves', limit],
    queryFn: ({ signal }) => getOne<Move[]>('/moves', { limit }, signal),
    placeholderData: keepPreviousData,
  })

export const unseenAssets = (request: { hours: number; limit: number; offset: number }) =>
  queryOptions({
    queryKey: ['unseen-assets', request],
    queryFn: ({ signal }) => get<List<UnseenAsset>>('/unseen-assets', request, signal),
    placeholderData: keepPreviousData,
  })

export const neverSeenAssets = (request: { limit: number; offset: number }) =>
  queryOptions({
    queryKey: ['unseen-assets', 'never', request],
    queryFn: ({ signal }) => get<List<NeverSeenAsset>>('/never-seen-assets', request, signal),
    placeholderData: keepPreviousData,
  })

/** The moves per quarter of an hour. */
export const moveCounts = (days: number) =>
  queryOptions({
    queryKey: ['move-counts', days],
    queryFn: ({ signal }) => getOne<MoveCount[]>('/move-counts', { days }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  })

/** Every location by id, with its name and the number of assets there. */
export function useLocationCounts(): ReadonlyMap<number, LocationCount> {
  const { data } = useQuery(overview())
  return useMemo(() => new Map((data?.locations ?? []).map((one) => [one.location_id, one])), [data])
}

/** The names of the locations above a location, outermost first, joined by slashes; empty at the top level. */
export function useLocationPath(): (id: number) => string {
  const counts = useLocationCounts()
  return useCallback(
    (id) => {
      const names: string[] = []
      for (let one = counts.get(id); one !== undefined && one.parent_id !== null; one = counts.get(one.parent_id)) {
        const parent = counts.get(one.parent_id)
        if (parent !== undefined) names.unshift(parent.name)
      }
      return names.join(' / ')
    },
    [counts],
  )
}
