import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { assetKeys } from '../api/assets.ts'
import { type LiveEvent, subscribeToLive } from '../api/live.ts'
import { isListInUse } from '../components/use-list-in-use.ts'

const refreshIntervalMs = 4000

/** Lists whose rows are added, removed or reordered by events. */
const listsOfMoves: QueryKey[] = [['positions'], ['unseen-assets'], ['locations', 'one'], assetKeys.atLocation]
const listsOfReaders: QueryKey[] = [['inbox']]
const lists = [...listsOfMoves, ...listsOfReaders]

const keysOfMoves: QueryKey[] = [['overview'], ['assets', 'one'], ...listsOfMoves]
const keysOfReaders: QueryKey[] = [['readers'], ['attention'], ...listsOfReaders]

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
    let delayed: QueryKey[] = []
    let timer: ReturnType<typeof setTimeout> | null = null
    const refresh = (): void => {
      const keys = [...new Set([...delayed, ...staleKeys(pending)])]
      const isPaused = isListInUse()
      pending = []
      delayed = keys.filter((queryKey) => isPaused && lists.includes(queryKey))
      timer = delayed.length > 0 ? setTimeout(refresh, refreshIntervalMs) : null
      for (const queryKey of keys) if (!delayed.includes(queryKey)) void queries.invalidateQueries({ queryKey })
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
