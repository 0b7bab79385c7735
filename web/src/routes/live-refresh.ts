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

/**
 * Moves change the rows of the table of assets at a location. The rows do not change while the pointer is over the table.
 */
const isPointerOverTable = (): boolean =>
  matchMedia('(hover: hover)').matches && document.querySelector('.table-wrap:hover') !== null

/** Refetches the queries that live events make stale, at most once per interval. */
export function useLiveRefresh(): void {
  const queries = useQueryClient()
  useEffect(() => {
    let pending: LiveEvent[] = []
    let isDelayed = false
    let timer: ReturnType<typeof setTimeout> | null = null
    const refresh = (): void => {
      const keys = staleKeys(pending)
      pending = []
      timer = null
      const isPaused = isPointerOverTable()
      isDelayed ||= keys.includes(assetKeys.atLocation)
      for (const queryKey of keys) if (queryKey !== assetKeys.atLocation) void queries.invalidateQueries({ queryKey })
      if (!isDelayed) return
      if (isPaused) timer = setTimeout(refresh, refreshIntervalMs)
      else {
        isDelayed = false
        void queries.invalidateQueries({ queryKey: assetKeys.atLocation })
      }
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
