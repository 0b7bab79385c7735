import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { expectedAt, judge, resolveCodes } from './codes.ts'

const storageKey = 'lastseen.scan'

/** What was scanned survives a reload, but not the tab. */
function remembered(orgId: number): string[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as { orgId: number; codes: string[] } | null
    return kept?.orgId === orgId ? kept.codes : []
  } catch {
    return []
  }
}

/** The codes of one stocktake, and what they mean at the chosen place. */
export function useScan(orgId: number, placeId: number | null) {
  const queries = useQueryClient()
  const [codes, setCodes] = useState<readonly string[]>(() => remembered(orgId))
  useEffect(() => sessionStorage.setItem(storageKey, JSON.stringify({ orgId, codes })), [orgId, codes])
  const resolved = useQuery({
    queryKey: ['scan', 'codes', codes],
    queryFn: () => resolveCodes(codes),
    enabled: codes.length > 0,
    placeholderData: (old) => old,
    staleTime: Infinity,
  })
  const expected = useQuery({
    queryKey: ['scan', 'expected', placeId],
    queryFn: ({ signal }) => expectedAt(placeId!, signal),
    enabled: placeId !== null,
  })
  const known = useMemo(() => {
    const wanted = new Set(codes)
    return codes.length === 0 ? [] : (resolved.data ?? []).filter((one) => wanted.has(one.code))
  }, [codes, resolved.data])
  const verdict = useMemo(
    () => judge(placeId, known, placeId === null ? [] : (expected.data ?? [])),
    [placeId, known, expected.data],
  )
  return {
    codes,
    verdict,
    known,
    isResolving: resolved.isFetching,
    error: resolved.error ?? expected.error,
    add: (more: readonly string[]) => setCodes((old) => [...new Set([...more, ...old])]),
    drop: (code: string) => setCodes((old) => old.filter((one) => one !== code)),
    clear: () => setCodes([]),
    refresh: () => queries.invalidateQueries({ queryKey: ['scan'] }),
  }
}
