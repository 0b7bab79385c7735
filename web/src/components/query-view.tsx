import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Lines } from './loading.tsx'
import { Problem } from './problem.tsx'

/** The three faces of something that is fetched: not yet, not at all, here. */
export function QueryView<T>({
  query,
  rows,
  children,
}: {
  query: UseQueryResult<T>
  rows?: number
  children: (data: T) => ReactNode
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.isError) return <Problem error={query.error} onRetry={() => void query.refetch()} />
  return <Lines {...(rows === undefined ? {} : { rows })} />
}
