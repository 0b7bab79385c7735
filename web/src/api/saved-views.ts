import { queryOptions } from '@tanstack/react-query'
import { getOne, post, remove } from './request.ts'
import type { SavedView } from './types.ts'

export const savedViews = () =>
  queryOptions({
    queryKey: ['saved-views'],
    queryFn: ({ signal }) => getOne<SavedView[]>('/views', undefined, signal),
    staleTime: 60_000,
  })

/** Replaces the user's view of the same name. */
export const saveView = (view: { name: string; search: string }): Promise<SavedView> => post('/views', view)
export const deleteView = (id: number): Promise<void> => remove(`/views/${id}`)
