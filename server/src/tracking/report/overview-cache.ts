import type { Database } from '../../db/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { instantFromMillis } from '../../kernel/instant.ts'
import { inSlices } from '../../kernel/slices.ts'
import { type LocationCount, type Totals, countLocations, countTotals } from './overview.sql.ts'

export const unseenAfterHours = 24
const hourMs = 3_600_000

export interface Overview {
  totals: Totals
  locations: (LocationCount & { hereWithSubtree: number })[]
}

/** How long a finished result is cached. */
const ttlMs = 1000

/** The counts of an organization's overview page. Concurrent requests share one computation and its result. */
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
    const unseenSince = instantFromMillis(this.#clock.millis() - unseenAfterHours * hourMs)
    const db = this.#db.replica(orgId)
    const [totals, locations] = await Promise.all([countTotals(db, orgId, unseenSince), countLocations(db, orgId)])
    return { totals, locations: await inSlices(withSubtrees(locations)) }
  }
}

/** Adds the counts of each subtree. The loop ends, because the database keeps the tree free of cycles. */
function* withSubtrees(
  locations: readonly LocationCount[],
): Generator<void, (LocationCount & { hereWithSubtree: number })[], void> {
  const sums = new Map(locations.map((location) => [location.locationId, { ...location, hereWithSubtree: 0 }]))
  for (const { locationId, here } of locations) {
    for (let node = sums.get(locationId); node !== undefined; node = sums.get(node.parentId ?? -1))
      node.hereWithSubtree += here
    yield
  }
  return [...sums.values()]
}
