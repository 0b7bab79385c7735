import type { HistoryRow } from '../../api/types.ts'

/** A period at one location, merged from consecutive history rows. */
export interface Stay {
  locationId: number | null
  locationKey: string | null
  from: number
  to: number
  /** The stay has not ended. */
  isCurrent: boolean
}

/** Merges history rows, newest first as the server returns them, into stays, oldest first. */
export function mergeHistory(rows: readonly HistoryRow[], now: number): Stay[] {
  const stays: Stay[] = []
  for (const row of rows.toReversed()) {
    const at = Date.parse(row.event_observed_at)
    const last = stays.at(-1)
    if (last !== undefined && last.locationId === row.location_id) continue
    if (last !== undefined) last.to = at
    stays.push({
      locationId: row.location_id,
      locationKey: row.location_external_key,
      from: at,
      to: now,
      isCurrent: false,
    })
  }
  const last = stays.at(-1)
  if (last !== undefined) last.isCurrent = true
  return stays
}
