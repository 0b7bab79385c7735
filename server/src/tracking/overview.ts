import type { Database } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import {
  type HourCount,
  type PlaceCount,
  type Totals,
  countMovesPerHour,
  countPlaces,
  countTotals,
} from './overview.sql.ts'

export const quietAfterHours = 24
const hourMs = 3_600_000
const hoursShown = 24

export interface Overview {
  totals: Totals
  places: (PlaceCount & { hereWithSubtree: number })[]
  movesPerHour: HourCount[]
}

/** However many look, the rest after counting is so many times as long: a twentieth of the time is counted. */
const restPerWork = 19
/** But no longer: what somebody just changed is to be seen, also after the database was slow for a moment. */
const longestRestMs = 10_000

interface Look {
  answer: Promise<Overview>
  /** When it has to be counted anew, on the process's own clock. */
  goodUntil: number
}

/**
 * Where everything is at a glance. The counts are shared by all who look, and stay good for as long as counting them
 * took, many times over, ten seconds at most: a small organization sees every move at once, and a large one cannot be made
 * to count all day.
 */
export class Overviews {
  readonly #db: Database
  readonly #clock: Clock
  readonly #longestRestMs: number
  readonly #looks = new Map<number, Look>()

  constructor(needs: { db: Database; clock: Clock; longestRestMs?: number }) {
    this.#db = needs.db
    this.#clock = needs.clock
    this.#longestRestMs = needs.longestRestMs ?? longestRestMs
  }

  of(orgId: number): Promise<Overview> {
    const known = this.#looks.get(orgId)
    if (known !== undefined && performance.now() < known.goodUntil) return known.answer
    const startedAt = performance.now()
    const look: Look = { answer: this.#count(orgId), goodUntil: Infinity }
    this.#looks.set(orgId, look)
    const done = (): void => {
      const endedAt = performance.now()
      const restMs = Math.min((endedAt - startedAt) * restPerWork, this.#longestRestMs)
      look.goodUntil = endedAt + restMs
      const forget = (): void => {
        if (this.#looks.get(orgId) === look) this.#looks.delete(orgId)
      }
      setTimeout(forget, restMs).unref()
    }
    look.answer.then(done, () => this.#looks.delete(orgId))
    return look.answer
  }

  async #count(orgId: number): Promise<Overview> {
    const nowMs = this.#clock.millis()
    const firstHourMs = Math.floor(nowMs / hourMs) * hourMs - (hoursShown - 1) * hourMs
    const db = this.#db.read
    const [totals, places, counted] = await Promise.all([
      countTotals(db, orgId, instantFromMillis(nowMs - quietAfterHours * hourMs)),
      countPlaces(db, orgId),
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
function withSubtrees(places: readonly PlaceCount[]): (PlaceCount & { hereWithSubtree: number })[] {
  const sums = new Map(places.map((place) => [place.locationId, { ...place, hereWithSubtree: 0 }]))
  for (const place of places)
    for (let at = sums.get(place.locationId); at !== undefined; at = sums.get(at.parentId ?? -1))
      at.hereWithSubtree += place.here
  return [...sums.values()]
}
