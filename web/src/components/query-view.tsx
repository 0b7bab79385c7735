import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Skeleton } from './skeleton.tsx'
import { ErrorAlert } from './feedback.tsx'

/** Shows a query's skeleton, error or data. */
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
