import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { getOne, post, remove } from '../../api/request.ts'
import type { ImportState } from '../../api/types.ts'
import { type ImportRow, type Kind, batches } from './import-rows.ts'
import { refreshOverview } from '../../api/overview.ts'

const busyStates: readonly string[] = ['waiting', 'checking', 'running'] satisfies ImportState['state'][]

export const isBusy = (state: ImportState | undefined): boolean =>
  state !== undefined && busyStates.includes(state.state)

/** One import from the file to its end. The server checks every line before anything is changed. */
export function useImport() {
  const queries = useQueryClient()
  const [id, setId] = useState<number | null>(null)
  const [sent, setSent] = useState(0)
  const [error, setError] = useState<unknown>(null)
  const state = useQuery({
    queryKey: ['imports', id],
    queryFn: () => getOne<ImportState>(`/imports/${String(id)}`),
    enabled: id !== null,
    refetchInterval: ({ state: { data } }) => (isBusy(data) ? 400 : false),
    staleTime: 0,
  })
  const guarded = async (work: () => Promise<void>): Promise<void> => {
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
      guarded(async () => {
        setSent(0)
        const made = await post<{ id: number }>('/imports', { kind })
        for (const rows of batches(all)) {
          await post(`/imports/${made.id}/rows`, { rows })
          setSent((old) => old + rows.length)
        }
        await post(`/imports/${made.id}/check`)
        setId(made.id)
      }),
    run: (skipErrors: boolean) =>
      guarded(async () => {
        await post(`/imports/${String(id)}/run`, { skip_errors: skipErrors })
        await refresh()
      }),
    forget: () =>
      guarded(async () => {
        const old = id
        setId(null)
        setSent(0)
        for (const queryKey of [['assets'], ['locations']]) void queries.invalidateQueries({ queryKey })
        refreshOverview(queries)
        if (old !== null) await remove(`/imports/${old}`)
      }),
  }
}
