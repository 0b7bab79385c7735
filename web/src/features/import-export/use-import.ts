import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { getOne, post, remove } from '../../api/request.ts'
import type { ImportState } from '../../api/types.ts'
import { type ImportRow, type Kind, batches } from './import-rows.ts'
import { refreshOverview } from '../../api/overview.ts'

const inProgressStates: readonly string[] = ['waiting', 'checking', 'running'] satisfies ImportState['state'][]

export const isInProgress = (state: ImportState | undefined): boolean =>
  state !== undefined && inProgressStates.includes(state.state)

/**
 * The state of the import that the URL names, if any. `onOpen` changes the URL. The server checks every line before it changes
 * data.
 */
export function useImport(id: number | null, onOpen: (id: number | null) => Promise<void>) {
  const queries = useQueryClient()
  const [isBusy, setBusy] = useState(false)
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
    setBusy(true)
    try {
      await work()
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  const refresh = (): Promise<unknown> => queries.invalidateQueries({ queryKey: ['imports'] })
  return {
    state: id === null ? undefined : state.data,
    isLoading: state.isLoading,
    /** A request of the user is in flight. */
    isBusy,
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
        await onOpen(created.id)
      }),
    run: (skipErrors: boolean) =>
      captureError(async () => {
        await post(`/imports/${String(id)}/run`, { skip_errors: skipErrors })
        await refresh()
      }),
    discard: () =>
      captureError(async () => {
        await onOpen(null)
        setSent(0)
        for (const queryKey of [['assets'], ['locations']]) void queries.invalidateQueries({ queryKey })
        refreshOverview(queries)
        if (id !== null) await remove(`/imports/${id}`)
        await queries.invalidateQueries({ queryKey: ['attention'] })
      }),
  }
}
