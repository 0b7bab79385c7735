import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { fetchExpectedAssets, compareWithExpected, resolveCodes } from './stocktake.ts'

const storageKey = 'lastseen.scan'

/** The scanned codes are kept across reloads, until the tab is closed. */
function readStoredCodes(orgId: number): string[] {
  try {
    const stored = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as { orgId: number; codes: string[] } | null
    return stored?.orgId === orgId ? stored.codes : []
  } catch {
    return []
  }
}

/** The codes of one stocktake and the result at the selected location. */
export function useScan(orgId: number, locationId: number | null) {
  const queries = useQueryClient()
  const [codes, setCodes] = useState<readonly string[]>(() => readStoredCodes(orgId))
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
    queryFn: ({ signal }) => fetchExpectedAssets(locationId!, signal),
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
