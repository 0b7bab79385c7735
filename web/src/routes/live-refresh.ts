import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { assetKeys } from '../api/assets.ts'
import { type LiveEvent, subscribeToLive } from '../api/live.ts'

const refreshIntervalMs = 4000

const keysOfMoves: QueryKey[] = [
  ['overview'],
  ['positions'],
  ['unseen-assets'],
  ['locations', 'one'],
  ['assets', 'one'],
  assetKeys.atLocation,
]
const keysOfReaders: QueryKey[] = [['readers'], ['inbox'], ['attention']]

function staleKeys(events: readonly LiveEvent[]): QueryKey[] {
  const kinds = new Set(events.map((event) => event.kind))
  if (kinds.has('gap')) return [...keysOfMoves, ...keysOfReaders, ['moves']]
  return [...(kinds.has('move') ? keysOfMoves : []), ...(kinds.has('readers') ? keysOfReaders : [])]
}

/** Refetches the queries that live events make stale, at most once per interval. */
export function useLiveRefresh(): void {
  const queries = useQueryClient()
  useEffect(() => {
    let pending: LiveEvent[] = []
    let timer: ReturnType<typeof setTimeout> | null = null
    const refresh = (): void => {
      const keys = staleKeys(pending)
      pending = []
      timer = null
      for (const queryKey of keys) void queries.invalidateQueries({ queryKey })
    }
    const stop = subscribeToLive((events) => {
      pending.push(...events)
      timer ??= setTimeout(refresh, refreshIntervalMs)
    })
    return () => {
      stop()
      if (timer !== null) clearTimeout(timer)
    }
  }, [queries])
}
