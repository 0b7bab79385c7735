import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Skeleton } from './skeleton.tsx'
import { ErrorAlert } from './feedback.tsx'

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
  if (query.isError) return <ErrorAlert error={query.error} onRetry={() => void query.refetch()} />
  return <Skeleton {...(rows === undefined ? {} : { rows })} />
}
