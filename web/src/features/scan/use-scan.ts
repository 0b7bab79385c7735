import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import type { ResolvedCode } from '../../api/types.ts'
import { type StocktakeResult, fetchExpectedAssets, compareWithExpected, resolveCodes } from './stocktake.ts'

const retryMs = 5000
const storageKey = 'lastseen.scan'

/** The assets that were saved at one location during this stocktake. */
export interface SavedAssets {
  locationId: number
  codes: readonly string[]
  expectedCount: number
  elsewhereCount: number
}

interface Stocktake {
  codes: readonly string[]
  saved: SavedAssets | null
}

const emptyStocktake: Stocktake = { codes: [], saved: null }

/** The scanned codes are kept across reloads, until the tab is closed. */
function readStored(orgId: number): Stocktake {
  try {
    const stored = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as (Stocktake & { orgId: number }) | null
    return stored?.orgId === orgId ? { codes: stored.codes, saved: stored.saved } : emptyStocktake
  } catch {
    return emptyStocktake
  }
}

/** The codes of one stocktake and the result at the selected location. */
export function useScan(orgId: number, locationId: number | null) {
  const queries = useQueryClient()
  const [stocktake, setStocktake] = useState(() => readStored(orgId))
  const { codes, saved } = stocktake
  // The latest scan, also of a code that was scanned before.
  const [lastScan, setLastScan] = useState<{ code: string; count: number } | null>(null)
  useEffect(() => sessionStorage.setItem(storageKey, JSON.stringify({ orgId, ...stocktake })), [orgId, stocktake])
  const resolved = useQuery({
    queryKey: ['scan', 'codes', codes],
    queryFn: () => resolveCodes(codes),
    enabled: codes.length > 0,
    placeholderData: (old) => old,
    staleTime: Infinity,
    refetchInterval: ({ state }) => (state.status === 'error' ? retryMs : false),
  })
  // A failed query has no data. The codes that were resolved before stay known while the server is away.
  const [lastResolved, setLastResolved] = useState<readonly ResolvedCode[]>([])
  useEffect(() => {
    if (resolved.data !== undefined) setLastResolved(resolved.data)
  }, [resolved.data])
  const resolvedCodes = resolved.data ?? lastResolved
  const expected = useQuery({
    queryKey: ['scan', 'expected', locationId],
    queryFn: ({ signal }) => fetchExpectedAssets(locationId!, signal),
    enabled: locationId !== null,
  })
  const known = useMemo(() => {
    const wanted = new Set(codes)
    return codes.length === 0 ? [] : resolvedCodes.filter((one) => wanted.has(one.code))
  }, [codes, resolvedCodes])
  const waiting = useMemo(() => {
    const answered = new Set(known.map((one) => one.code))
    return codes.filter((code) => !answered.has(code))
  }, [codes, known])
  const savedIds = useMemo(() => {
    const savedCodes = new Set(saved?.codes)
    return new Set(known.filter((one) => savedCodes.has(one.code)).map((one) => one.id))
  }, [known, saved])
  const result = useMemo(
    () => compareWithExpected(locationId, known, locationId === null ? [] : (expected.data ?? []), savedIds),
    [locationId, known, expected.data, savedIds],
  )
  // Assets that were saved at one location do not belong to the stocktake of the next.
  useEffect(() => {
    if (saved === null || saved.locationId === locationId) return
    const done = new Set([...saved.codes, ...known.filter((one) => savedIds.has(one.id)).map((one) => one.code)])
    setStocktake((old) => ({ codes: old.codes.filter((code) => !done.has(code)), saved: null }))
  }, [saved, locationId, known, savedIds])
  return {
    /** The scanned codes, the latest first. */
    codes,
    result,
    known,
    /** The codes that the server has not resolved yet. */
    waiting,
    saved: saved?.locationId === locationId ? saved : null,
    /** The scanned assets that the next save sends. */
    unsaved: [...result.found, ...result.elsewhere].filter((one) => !savedIds.has(one.id)),
    error: resolved.error ?? expected.error,
    lastScan,
    add: (more: readonly string[]) => {
      const last = more.at(-1)
      if (last !== undefined) setLastScan((old) => ({ code: last, count: (old?.count ?? 0) + 1 }))
      setStocktake((old) => ({ ...old, codes: [...new Set([...[...more].reverse(), ...old.codes])] }))
    },
    drop: (dropped: readonly string[]) =>
      setStocktake((old) => ({ ...old, codes: old.codes.filter((one) => !dropped.includes(one)) })),
    /** Marks the assets of a result as saved at the location. */
    markSaved: (savedLocationId: number, { found, elsewhere }: Pick<StocktakeResult, 'found' | 'elsewhere'>) =>
      setStocktake((old) => {
        const earlier = old.saved?.locationId === savedLocationId ? old.saved : null
        return {
          ...old,
          saved: {
            locationId: savedLocationId,
            codes: [...(earlier?.codes ?? []), ...[...found, ...elsewhere].map((one) => one.code)],
            expectedCount: (earlier?.expectedCount ?? 0) + found.length,
            elsewhereCount: (earlier?.elsewhereCount ?? 0) + elsewhere.length,
          },
        }
      }),
    /** Empties the list. Returns a function that restores it together with the codes scanned since. */
    clear: () => {
      setStocktake(emptyStocktake)
      return () =>
        setStocktake((now) => ({
          codes: [...new Set([...now.codes, ...stocktake.codes])],
          saved: now.saved ?? stocktake.saved,
        }))
    },
    refresh: () => queries.invalidateQueries({ queryKey: ['scan'] }),
  }
}
