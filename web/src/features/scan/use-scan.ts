import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { expectedAt, compareWithExpected, resolveCodes } from './stocktake.ts'

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

/** The codes of one stocktake, and what they mean at the chosen location. */
export function useScan(orgId: number, locationId: number | null) {
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
    queryKey: ['scan', 'expected', locationId],
    queryFn: ({ signal }) => expectedAt(locationId!, signal),
    enabled: locationId !== null,
  })
  const known = useMemo(() => {
    const wanted = new Set(codes)
    return codes.length === 0 ? [] : (resolved.data ?? []).filter((one) => wanted.has(one.code))
  }, [codes, resolved.data])
  const result = useMemo(
    () => compareWithExpected(locationId, known, locationId === null ? [] : (expected.data ?? [])),
    [locationId, known, expected.data],
  )
  return {
    codes,
    result,
    known,
    isResolving: resolved.isFetching,
    error: resolved.error ?? expected.error,
    add: (more: readonly string[]) => setCodes((old) => [...new Set([...more, ...old])]),
    drop: (code: string) => setCodes((old) => old.filter((one) => one !== code)),
    clear: () => setCodes([]),
    refresh: () => queries.invalidateQueries({ queryKey: ['scan'] }),
  }
}
