import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { get, getOne, patch, post, remove } from './client.ts'
import type { List, NewReader, Reader, ScanPoint, UnknownReaders, UnknownTag } from './types.ts'

export const listReaders = (request: { limit: number; offset: number }) =>
  queryOptions({
    queryKey: ['readers', 'list', request],
    queryFn: ({ signal }) => get<List<Reader>>('/readers', request, signal),
    placeholderData: keepPreviousData,
  })

export const oneReader = (id: number) =>
  queryOptions({
    queryKey: ['readers', 'one', id],
    queryFn: ({ signal }) => getOne<Reader>(`/readers/${id}`, undefined, signal),
  })

export const listUnknown = (request: { limit: number; offset: number }) =>
  queryOptions({
    queryKey: ['inbox', request],
    queryFn: ({ signal }) => get<List<UnknownTag>>('/readers/inbox', request, signal),
    placeholderData: keepPreviousData,
  })

/** Topics of the outside broker that lead to no reader. */
export const unknownReaders = () =>
  queryOptions({
    queryKey: ['inbox', 'readers'],
    queryFn: ({ signal }) => getOne<UnknownReaders>('/readers/unknown', undefined, signal),
  })

export interface ReaderDraft {
  name: string
  format: string
  clock: string
  scan_points: ScanPoint[]
  topic_key?: string
}

export const createReader = (draft: ReaderDraft): Promise<NewReader> => post('/readers', draft)
export const patchReader = (id: number, draft: Partial<ReaderDraft>): Promise<Reader> => patch(`/readers/${id}`, draft)
export const deleteReader = (id: number): Promise<void> => remove(`/readers/${id}`)
