import { useNavigate, useSearch } from '@tanstack/react-router'
import type { reportSearch } from '../../routes/search-params.ts'

type ReportSearch = ReturnType<typeof reportSearch>
type Change = { [Name in keyof ReportSearch]?: ReportSearch[Name] | undefined }

/** The choices of the reports page, which the URL holds, and a function that changes some of them. */
export function useReportSearch() {
  const search: ReportSearch = useSearch({ from: '/shell/reports' })
  const navigate = useNavigate({ from: '/reports' })
  const change = (more: Change, { replace = true } = {}): void =>
    void navigate({ search: (old) => ({ ...old, page: undefined, ...more }) as never, replace })
  return [search, change] as const
}
