import { LRUCache } from 'lru-cache'
import type { Tx } from '../db/database.ts'
import { deleteLeastRecentFamilies } from './refresh-token-families.sql.ts'

/**
 * Refresh token families per API key. A client that exchanges its key every 15 minutes, when its access token expires, starts
 * 2,880 families in the 30 days that a refresh token lives.
 */
export const maxFamilies = 3000
/** Counting the families of a key takes milliseconds when there are many, so not every exchange does it. */
export const exchangesPerCheck = 100

/** Ends the families of an API key that were not used for the longest time, so that their number is bounded. */
export class FamilyLimit {
  readonly #exchanges = new LRUCache<string, number>({ max: 20_000 })

  /** Called after a family was inserted. The first exchange of a key in this process and every 100th one is checked. */
  async apply(tx: Tx, orgId: number, clientId: string): Promise<void> {
    const exchanges = this.#exchanges.get(clientId) ?? 0
    this.#exchanges.set(clientId, exchanges + 1)
    if (exchanges % exchangesPerCheck === 0) await deleteLeastRecentFamilies(tx, orgId, clientId, maxFamilies)
  }
}
