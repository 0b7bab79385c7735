import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { get, getOne, patch, post, remove } from './request.ts'
import type { AssetLocation, List, Location, LocationEvent } from './types.ts'

const locationKeys = {
  all: ['locations'] as const,
  one: (id: number) => ['locations', 'one', id] as const,
}

export const listLocations = (request: {
  q?: string
  limit: number
  offset: number
  external_key?: readonly string[]
}) =>
  queryOptions({
    queryKey: [...locationKeys.all, 'list', request],
    queryFn: ({ signal }) => get<List<Location>>('/locations', { ...request }, signal),
    placeholderData: keepPreviousData,
  })

export const oneLocation = (id: number) =>
  queryOptions({
    queryKey: locationKeys.one(id),
    queryFn: ({ signal }) => getOne<Location>(`/locations/${id}`, undefined, signal),
  })

export const ancestorsOf = (id: number) =>
  queryOptions({
    queryKey: [...locationKeys.one(id), 'ancestors'],
    queryFn: ({ signal }) => get<List<Location>>(`/locations/${id}/ancestors`, { limit: 200 }, signal),
  })

/** The numbers of records that keep a location from being deleted. */
export const dependentsOf = (id: number) =>
  queryOptions({
    queryKey: [...locationKeys.one(id), 'dependents'],
    queryFn: async ({ signal }) => {
      const [below, here] = await Promise.all([
        get<List<Location>>(`/locations/${id}/children`, { limit: 1 }, signal),
        get<List<AssetLocation>>('/reports/asset-locations', { location_id: id, limit: 1 }, signal),
      ])
      return { below: below.total_count, here: here.total_count }
    },
    staleTime: 0,
    gcTime: 0,
  })

export const locationEvents = (id: number, request: { include_descendants: boolean; limit: number; offset: number }) =>
  queryOptions({
    queryKey: [...locationKeys.one(id), 'events', request],
    queryFn: ({ signal }) => get<List<LocationEvent>>(`/locations/${id}/history`, request, signal),
    placeholderData: keepPreviousData,
  })

export const createLocation = (body: object): Promise<Location> => post('/locations', body)
export const patchLocation = (id: number, body: object): Promise<Location> => patch(`/locations/${id}`, body)
export const deleteLocation = (id: number): Promise<void> => remove(`/locations/${id}`)
