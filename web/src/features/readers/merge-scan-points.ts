import type { ScanPoint } from '../../api/types.ts'

/** The current antennas with the changes between `base` and `mine`, so that changes of other antennas are kept. */
export function mergeScanPoints(
  base: readonly ScanPoint[],
  mine: readonly ScanPoint[],
  current: readonly ScanPoint[],
): ScanPoint[] {
  const [before, wanted] = [base, mine].map((all) => new Map(all.map((one) => [one.antenna, one.location_id])))
  const merged = new Map(current.map((one) => [one.antenna, one.location_id]))
  for (const antenna of new Set([...before!.keys(), ...wanted!.keys()])) {
    const location = wanted!.get(antenna)
    if (location === undefined) merged.delete(antenna)
    else if (location !== before!.get(antenna)) merged.set(antenna, location)
  }
  return [...merged].sort(([a], [b]) => a - b).map(([antenna, location_id]) => ({ antenna, location_id }))
}
