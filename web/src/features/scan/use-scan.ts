import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import type { ResolvedCode } from '../../api/types.ts'
import { type StocktakeResult, compareWithExpected, fetchExpectedAssets } from './stocktake.ts'
import { useResolvedCodes } from './use-resolved-codes.ts'

/** Each organization has its own list. */
const storageKey = (orgId: number): string => `lastseen.scan.${orgId}`

/** The assets that were saved at one location during this stocktake. */
export interface SavedAssets {
  locationId: number
  codes: readonly string[]
  expectedCount: number
  elsewhereCount: number
}

/** The codes that were scanned at one location, the latest first. */
interface Stocktake {
  locationId: number | null
  codes: readonly string[]
  saved: SavedAssets | null
}

const emptyStocktake: Stocktake = { locationId: null, codes: [], saved: null }

/** The scanned codes are kept across reloads, until the tab is closed. */
function readStored(orgId: number): Stocktake {
  try {
    return (JSON.parse(sessionStorage.getItem(storageKey(orgId)) ?? 'null') as Stocktake | null) ?? emptyStocktake
  } catch {
    return emptyStocktake
  }
}

/**
 * The codes of one stocktake and the result at its location. `requestedId` is the location in the URL. It becomes that of the
 * stocktake unless codes of another location are not saved: then the user decides, and `moveTo` is called.
 */
export function useScan(orgId: number, requestedId: number | null) {
  const queries = useQueryClient()
  const [stocktake, setStocktake] = useState(() => readStored(orgId))
  const { codes, saved } = stocktake
  // The latest scan, also of a code that was scanned before.
  const [lastScan, setLastScan] = useState<{ code: string; count: number } | null>(null)
  useEffect(() => sessionStorage.setItem(storageKey(orgId), JSON.stringify(stocktake)), [orgId, stocktake])
  const { resultOf, resolved, error, resolveAgain } = useResolvedCodes(codes)
  const known = useMemo(() => codes.flatMap((code) => resultOf(code) ?? []), [codes, resolved])
  const waiting = useMemo(() => codes.filter((code) => resultOf(code) === undefined), [codes, resolved])
  const savedIds = useMemo(() => new Set(saved?.codes.flatMap((code) => resultOf(code)?.id ?? [])), [saved, resolved])

  const isSaved = (code: string): boolean => {
    const one = resultOf(code)
    return saved?.codes.includes(code) === true || (one?.kind === 'asset' && savedIds.has(one.id!))
  }
  const open = codes.filter((code) => !isSaved(code))
  const isUndecided =
    stocktake.locationId !== null &&
    stocktake.locationId !== requestedId &&
    open.some((code) => resultOf(code)?.kind !== 'location')
  const locationId = isUndecided ? stocktake.locationId : requestedId
  /** Continues at a location without some codes. Assets that were saved at the previous location do not belong to it. */
  const moveTo = (id: number | null, dropped: readonly string[]): void =>
    setStocktake((old) => ({
      locationId: id,
      codes: old.codes.filter((code) => !dropped.includes(code) && !isSaved(code) && !old.saved?.codes.includes(code)),
      saved: null,
    }))
  useEffect(() => {
    if (!isUndecided && stocktake.locationId !== requestedId) moveTo(requestedId, [])
  })

  const expected = useQuery({
    queryKey: ['scan', 'expected', locationId],
    queryFn: ({ signal }) => fetchExpectedAssets(locationId!, signal),
    enabled: locationId !== null,
  })
  const result = useMemo(
    () => compareWithExpected(locationId, known, locationId === null ? [] : (expected.data?.rows ?? []), savedIds),
    [locationId, known, expected.data, savedIds],
  )
  return {
    /** The scanned codes, the latest first. */
    codes,
    /** The location that the codes belong to. */
    locationId,
    /** Whether the URL names another location, and codes of this one are not saved. */
    isUndecided,
    result,
    expectedTotal: expected.data?.total ?? 0,
    known,
    resultOf,
    /** The codes that the server has not resolved yet. */
    waiting,
    saved: saved?.locationId === locationId ? saved : null,
    /** The scanned assets that the next save sends. */
    unsaved: [...result.found, ...result.elsewhere].filter((one) => !savedIds.has(one.id!)),
    error: error ?? expected.error,
    lastScan,
    add: (more: readonly string[]) => {
      const last = more.at(-1)
      if (last !== undefined) setLastScan((old) => ({ code: last, count: (old?.count ?? 0) + 1 }))
      setStocktake((old) => ({ ...old, codes: [...new Set([...[...more].reverse(), ...old.codes])] }))
    },
    drop: (dropped: readonly string[]) =>
      setStocktake((old) => ({ ...old, codes: old.codes.filter((one) => !dropped.includes(one)) })),
    moveTo,
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
      setStocktake({ ...emptyStocktake, locationId })
      setLastScan(null)
      return () =>
        setStocktake((now) => {
          if (now.codes.length === 0) return stocktake
          const isSameLocation = now.locationId === stocktake.locationId
          const codes = [...new Set([...now.codes, ...stocktake.codes])]
          return { ...now, codes, saved: now.saved ?? (isSameLocation ? stocktake.saved : null) }
        })
    },
    refresh: () => {
      resolveAgain()
      return queries.invalidateQueries({ queryKey: ['scan'] })
    },
  }
}

export type Scan = ReturnType<typeof useScan>

/** The codes of an open question that belong to the current location: all but those that were scanned later. */
export function useCodesHere({ codes, isUndecided, unsaved, waiting, result }: Scan, next: ResolvedCode | undefined) {
  // The latest code when the URL began to name another location.
  const latest = codes[0]
  const [lastHere, setLastHere] = useState(latest)
  useEffect(() => {
    if (!isUndecided) setLastHere(latest)
  }, [isUndecided, latest])
  const boundary = next !== undefined ? next.code : isUndecided ? lastHere : undefined
  const later = new Set(boundary === undefined ? [] : codes.slice(0, Math.max(0, codes.indexOf(boundary))))
  return {
    assets: unsaved.filter((one) => !later.has(one.code)),
    waiting: waiting.filter((code) => !later.has(code)),
    unknown: result.unknown.flatMap(({ code }) => (later.has(code) ? [] : [code])),
  }
}
