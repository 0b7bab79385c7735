import { getWithShortTimeout, postWithShortTimeout } from '../../api/request.ts'
import type { AssetLocation, List, ResolvedCode } from '../../api/types.ts'

/** Splits pasted codes at line breaks, tabs, commas and semicolons. */
export const splitCodes = (text: string): string[] =>
  text
    .split(/[\r\n\t,;]+/)
    .map((code) => code.trim())
    .filter((code) => code !== '')

/** The length of the longest key and of the longest tag value. */
const maxCodeLength = 255

const isForbidden = (character: string): boolean =>
  character < ' ' || character === '\u007F' || /\p{Cs}/u.test(character)

/** Whether a code can be a key or the value of a tag. The server rejects a request with any other code. */
export function isPossibleCode(code: string): boolean {
  const characters = Array.from(code)
  return characters.length <= maxCodeLength && !characters.some(isForbidden)
}

export const unknownCode = (code: string): ResolvedCode => ({
  code,
  kind: null,
  id: null,
  external_key: null,
  name: null,
  location_id: null,
  location_name: null,
  last_seen_at: null,
})

export const resolveCodes = (codes: readonly string[], signal: AbortSignal): Promise<ResolvedCode[]> =>
  postWithShortTimeout('/codes/resolve', { codes }, signal)

export const maxExpected = 5000

/** The assets last seen at exactly this location, without the locations below it, and how many there are. */
export async function fetchExpectedAssets(
  locationId: number,
  signal: AbortSignal,
): Promise<{ rows: readonly AssetLocation[]; total: number }> {
  const rows: AssetLocation[] = []
  for (;;) {
    const query = { location_id: locationId, limit: 200, offset: rows.length, sort: 'asset_external_key' }
    const page = await getWithShortTimeout<List<AssetLocation>>('/reports/asset-locations', query, signal)
    rows.push(...page.data)
    const total = page.total_count
    if (page.data.length === 0 || rows.length >= total || rows.length >= maxExpected) return { rows, total }
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
  const isHere = (one: ResolvedCode): boolean =>
    savedIds.has(one.id) || (locationId !== null && one.location_id === locationId)
  return {
    found: assets.filter(isHere),
    elsewhere: assets.filter((one) => !isHere(one)),
    missing: expected.filter((one) => !seen.has(one.asset_id)),
    unknown: scanned.filter((one) => one.kind === null),
  }
}
