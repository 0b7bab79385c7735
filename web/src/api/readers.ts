import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { get, getOne, patch, post, remove } from './request.ts'
import type {
  AttachedTag,
  LatestRead,
  List,
  NewReader,
  NewReaderDraft,
  Reader,
  ReaderConnection,
  ScanPoint,
  TagDraft,
  UnknownReaders,
  UnknownTag,
} from './types.ts'

export const listReaders = (request: { is_silent?: boolean | undefined; limit: number; offset: number }) =>
  queryOptions({
    queryKey: ['readers', 'list', request],
    queryFn: ({ signal }) => get<List<Reader>>('/readers', { ...request }, signal),
    placeholderData: keepPreviousData,
  })

const pageSize = 200

async function fetchAll<T>(path: string, signal: AbortSignal): Promise<T[]> {
  const rows: T[] = []
  for (;;) {
    const page = await get<List<T>>(path, { limit: pageSize, offset: rows.length }, signal)
    rows.push(...page.data)
    if (page.data.length === 0 || rows.length >= page.total_count) return rows
  }
}

export const allReaders = () =>
  queryOptions({ queryKey: ['readers', 'all'], queryFn: ({ signal }) => fetchAll<Reader>('/readers', signal) })

/** The server keeps the tags and the topics that were seen last. */
export const maxUnknownTags = 1000
export const maxUnknownTopics = 200

export const allUnknownTags = () =>
  queryOptions({ queryKey: ['inbox', 'all'], queryFn: ({ signal }) => fetchAll<UnknownTag>('/readers/inbox', signal) })

export const oneReader = (id: number) =>
  queryOptions({
    queryKey: ['readers', 'one', id],
    queryFn: ({ signal }) => getOne<Reader>(`/readers/${id}`, undefined, signal),
  })

export const getReader = (id: number): Promise<Reader> => getOne(`/readers/${id}`)

export const listUnknownTags = (request: { limit: number; offset: number }) =>
  queryOptions({
    queryKey: ['inbox', request],
    queryFn: ({ signal }) => get<List<UnknownTag>>('/readers/inbox', request, signal),
    placeholderData: keepPreviousData,
  })

/** Attaching a tag from the inbox also records its last read as a sighting of the asset. */
export const attachUnknownTag = {
  toAsset: (assetId: number, tag: TagDraft): Promise<AttachedTag> => post(`/readers/inbox/assets/${assetId}`, tag),
  toNewAsset: (name: string, tag: TagDraft): Promise<AttachedTag> => post('/readers/inbox/assets', { name, ...tag }),
}

/** The endpoint and user name that the device uses. The token is not stored and cannot be shown again. */
export const readerConnection = (id: number) =>
  queryOptions({
    queryKey: ['readers', 'connection', id],
    queryFn: ({ signal }) => getOne<ReaderConnection>(`/readers/${id}/connection`, undefined, signal),
    staleTime: 60_000,
  })

/** The latest reads, newest first. The server collects them while a client polls this endpoint. */
export const latestReads = (id: number) =>
  queryOptions({
    queryKey: ['latest-reads', id],
    queryFn: ({ signal }) => getOne<LatestRead[]>(`/readers/${id}/reads`, undefined, signal),
    refetchInterval: 1500,
    staleTime: 0,
  })

/** Topics of the external broker that belong to no reader. */
export const unknownReaders = () =>
  queryOptions({
    queryKey: ['inbox', 'readers'],
    queryFn: ({ signal }) => getOne<UnknownReaders>('/readers/unknown', undefined, signal),
  })

export type ReaderDraft = NewReaderDraft & { format: string; clock: string; scan_points: ScanPoint[] }

export const createReader = (draft: ReaderDraft): Promise<NewReader> => post('/readers', draft)
export const patchReader = (id: number, draft: Partial<ReaderDraft>): Promise<Reader> => patch(`/readers/${id}`, draft)
/** The old token works for the overlap. */
export const replaceReaderToken = (id: number, overlapSeconds: number): Promise<NewReader> =>
  post(`/readers/${id}/token?overlap_seconds=${overlapSeconds}`)
export const deleteReader = (id: number): Promise<void> => remove(`/readers/${id}`)
