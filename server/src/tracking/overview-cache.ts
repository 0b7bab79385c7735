import type { Database } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import {
  type HourCount,
  type LocationCount,
  type Totals,
  countMovesPerHour,
  countLocations,
  countTotals,
} from './overview.sql.ts'

export const unseenAfterHours = 24
const hourMs = 3_600_000
const hoursShown = 24

export interface Overview {
  totals: Totals
  places: (LocationCount & { hereWithSubtree: number })[]
  movesPerHour: HourCount[]
}

/** How long counts are shared once they are there. */
const ttlMs = 1000

/** Counts of everything an organization has. All who ask share them while they are counted and for a second after. */
export class OverviewCache {
  readonly #db: Database
  readonly #clock: Clock
  readonly #cached = new Map<number, Promise<Overview>>()

  constructor(deps: { db: Database; clock: Clock }) {
    this.#db = deps.db
    this.#clock = deps.clock
  }

  of(orgId: number): Promise<Overview> {
    const cached = this.#cached.get(orgId)
    if (cached !== undefined) return cached
    const overview = this.#count(orgId)
    this.#cached.set(orgId, overview)
    const expire = (): void => void this.#cached.delete(orgId)
    overview.then(() => setTimeout(expire, ttlMs).unref(), expire)
    return overview
  }

  async #count(orgId: number): Promise<Overview> {
    const nowMs = this.#clock.millis()
    const firstHourMs = Math.floor(nowMs / hourMs) * hourMs - (hoursShown - 1) * hourMs
    const db = this.#db.replica(orgId)
    const [totals, places, counted] = await Promise.all([
      countTotals(db, orgId, instantFromMillis(nowMs - unseenAfterHours * hourMs)),
      countLocations(db, orgId),
      countMovesPerHour(db, orgId, instantFromMillis(firstHourMs)),
    ])
    const moves = new Map(counted.map((one) => [one.hour, one.moves]))
    const movesPerHour = Array.from({ length: hoursShown }, (_, index) => {
      const hour = instantFromMillis(firstHourMs + index * hourMs)
      return { hour, moves: moves.get(hour) ?? 0 }
    })
    return { totals, places: withSubtrees(places), movesPerHour }
  }
}

/** Adds what lies below each location; a tree has no circles, which the database sees to. */
function withSubtrees(places: readonly LocationCount[]): (LocationCount & { hereWithSubtree: number })[] {
  const sums = new Map(places.map((place) => [place.locationId, { ...place, hereWithSubtree: 0 }]))
  for (const place of places)
    for (let at = sums.get(place.locationId); at !== undefined; at = sums.get(at.parentId ?? -1))
      at.hereWithSubtree += place.here
  return [...sums.values()]
}
