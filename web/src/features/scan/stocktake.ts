import { get, post } from '../../api/request.ts'
import type { AssetLocation, List, ResolvedCode } from '../../api/types.ts'

/** Splits pasted codes at line breaks, tabs, commas and semicolons. */
export const splitCodes = (text: string): string[] =>
  text
    .split(/[\r\n\t,;]+/)
    .map((code) => code.trim())
    .filter((code) => code !== '')

const batchSize = 500

export async function resolveCodes(codes: readonly string[]): Promise<ResolvedCode[]> {
  const all: ResolvedCode[] = []
  for (let start = 0; start < codes.length; start += batchSize)
    all.push(...(await post<ResolvedCode[]>('/codes/resolve', { codes: codes.slice(start, start + batchSize) })))
  return all
}

const maxExpected = 5000

/** The assets last seen at exactly this location, without the locations below it. */
export async function fetchExpectedAssets(locationId: number, signal: AbortSignal): Promise<AssetLocation[]> {
  const rows: AssetLocation[] = []
  for (;;) {
    const query = { location_id: locationId, limit: 200, offset: rows.length, sort: 'asset_external_key' }
    const page = await get<List<AssetLocation>>('/reports/asset-locations', query, signal)
    rows.push(...page.data)
    if (page.data.length === 0 || rows.length >= page.total_count || rows.length >= maxExpected) return rows
  }
}

export interface StocktakeResult {
  found: ResolvedCode[]
  elsewhere: ResolvedCode[]
  missing: AssetLocation[]
  unknown: ResolvedCode[]
}

/** Compares the scanned codes with the expected assets. Several codes of one asset count once; saved assets are found. */
export function compareWithExpected(
  locationId: number | null,
  scanned: readonly ResolvedCode[],
  expected: readonly AssetLocation[],
  savedIds: ReadonlySet<number | null>,
): StocktakeResult {
  const assets = [...new Map(scanned.filter((one) => one.kind === 'asset').map((one) => [one.id, one])).values()]
  const seen = new Set(assets.map((one) => one.id))
  const isHere = (one: ResolvedCode): boolean => one.location_id === locationId || savedIds.has(one.id)
  return {
    found: assets.filter(isHere),
    elsewhere: assets.filter((one) => !isHere(one)),
    missing: expected.filter((one) => !seen.has(one.asset_id)),
    unknown: scanned.filter((one) => one.kind === null),
  }
}
