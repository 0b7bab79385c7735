import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { type LiveEvent, subscribeToLive } from '../api/live.ts'

const restMs = 4000

const moved: QueryKey[] = [['overview'], ['positions'], ['quiet'], ['locations', 'one'], ['assets', 'one']]
const readers: QueryKey[] = [['readers'], ['inbox']]

function stale(events: readonly LiveEvent[]): QueryKey[] {
  const kinds = new Set(events.map((event) => event.kind))
  if (kinds.has('gap')) return [...moved, ...readers, ['moves']]
  return [...(kinds.has('move') ? moved : []), ...(kinds.has('readers') ? readers : [])]
}

/** Reads again what the news made old, but never more often than every few seconds, however busy the site is. */
export function useLiveRefresh(): void {
  const queries = useQueryClient()
  useEffect(() => {
    let waiting: LiveEvent[] = []
    let timer: ReturnType<typeof setTimeout> | null = null
    const refresh = (): void => {
      const keys = stale(waiting)
      waiting = []
      timer = null
      for (const queryKey of keys) void queries.invalidateQueries({ queryKey })
    }
    const stop = subscribeToLive((events) => {
      waiting.push(...events)
      timer ??= setTimeout(refresh, restMs)
    })
    return () => {
      stop()
      if (timer !== null) clearTimeout(timer)
    }
  }, [queries])
}
