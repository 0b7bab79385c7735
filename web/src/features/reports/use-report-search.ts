import { useDebouncedCallback } from '@mantine/hooks'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
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

/** The text of a filter while it is typed. The URL follows after 200 ms. */
export function useSearchText(q: string | undefined, change: (more: { q: string | undefined }) => void) {
  const [typed, setTyped] = useState(q ?? '')
  const apply = useDebouncedCallback((text: string) => change({ q: text === '' ? undefined : text }), 200)
  const type = (text: string): void => {
    setTyped(text)
    apply(text.trim())
  }
  return { typed, type }
}
