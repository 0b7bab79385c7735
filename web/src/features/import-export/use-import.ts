import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { getOne, post, remove } from '../../api/request.ts'
import type { ImportState } from '../../api/types.ts'
import { type ImportRow, type Kind, batches } from './import-rows.ts'
import { refreshOverview } from '../../api/overview.ts'

const inProgressStates: readonly string[] = ['waiting', 'checking', 'running'] satisfies ImportState['state'][]

export const isInProgress = (state: ImportState | undefined): boolean =>
  state !== undefined && inProgressStates.includes(state.state)

/** The state of one import, at first of the opened one, if any. The server checks every line before it changes data. */
export function useImport(openedId: number | null) {
  const queries = useQueryClient()
  const [id, setId] = useState(openedId)
  const [sent, setSent] = useState(0)
  const [error, setError] = useState<unknown>(null)
  const state = useQuery({
    queryKey: ['imports', id],
    queryFn: () => getOne<ImportState>(`/imports/${String(id)}`),
    enabled: id !== null,
    refetchInterval: ({ state: { data } }) => (isInProgress(data) ? 400 : false),
    staleTime: 0,
  })
  const captureError = async (work: () => Promise<void>): Promise<void> => {
    setError(null)
    try {
      await work()
    } catch (problem) {
      setError(problem)
    }
  }
  const refresh = (): Promise<unknown> => queries.invalidateQueries({ queryKey: ['imports'] })
  return {
    state: id === null ? undefined : state.data,
    sent,
    error: error ?? state.error,
    check: (kind: Kind, all: readonly ImportRow[]) =>
      captureError(async () => {
        setSent(0)
        const created = await post<{ id: number }>('/imports', { kind })
        for (const rows of batches(all)) {
          await post(`/imports/${created.id}/rows`, { rows })
          setSent((old) => old + rows.length)
        }
        await post(`/imports/${created.id}/check`)
        setId(created.id)
      }),
    run: (skipErrors: boolean) =>
      captureError(async () => {
        await post(`/imports/${String(id)}/run`, { skip_errors: skipErrors })
        await refresh()
      }),
    discard: () =>
      captureError(async () => {
        const old = id
        setId(null)
        setSent(0)
        for (const queryKey of [['assets'], ['locations']]) void queries.invalidateQueries({ queryKey })
        refreshOverview(queries)
        if (old !== null) await remove(`/imports/${old}`)
        await queries.invalidateQueries({ queryKey: ['attention'] })
      }),
  }
}
