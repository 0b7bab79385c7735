import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'
import { type QuotaCheck, type QuotaName, type StoredQuota, quotaNames, quotaReached } from '../kernel/quota.ts'
import { QueryTime } from './query-time.ts'
import { ownQuotas, quotaUse, setOwnQuotas, storedBytes } from './quotas.sql.ts'

export type QuotaLimits = Readonly<Record<QuotaName, number>>

export interface QuotaState {
  name: QuotaName
  /** Null for what every process counts itself. */
  used: number | null
  limit: number
  /** True if the operator has set the quota for this organization, so that the default does not apply. */
  isOwn: boolean
}

/** How long a process may create records without reading the use again, and what share of the remaining quota. */
const allowanceTtlMs = 10_000
const allowanceShare = 1 / 16

/** How long a process uses the limit that it has read for the query time of an organization. */
const limitTtlMs = 10_000

const isStored = (name: QuotaName): name is StoredQuota => name !== 'live_streams' && name !== 'query_seconds'

/** Above this share of the quota `stored_bytes`, reads of readers and sightings of operators are rejected, too. */
const recordingShare = 1.2

/** How long a process uses the estimate of stored bytes, which changes every hour; less while reads are rejected. */
const storageTtlMs = 300_000
const exceededStorageTtlMs = 10_000

/** Creates of these records are also rejected when the organization stores as many bytes as it may. */
const storing: readonly StoredQuota[] = ['assets', 'locations', 'readers']

/**
 * Enforces the quotas of organizations. While much of a quota is left, a process may create a share of it before it reads
 * the use again; close to the limit, every create reads the use. Concurrent creates may exceed a quota by a few records.
 */
export class Quotas implements QuotaCheck {
  readonly #db: Database
  readonly #defaults: QuotaLimits
  /** How many records may be created before the use is read again, by organization and quota. */
  readonly #allowance = new LRUCache<string, { left: number }>({ max: 50_000, ttl: allowanceTtlMs })

  /** By organization, the quota `stored_bytes` if so much more is stored that reads are rejected. */
  readonly #exceededStorage = new LRUCache<number, { limit: number | null }>({ max: 50_000 })

  readonly #queryLimits = new LRUCache<number, number>({ max: 20_000, ttl: limitTtlMs })
  readonly queryTime = new QueryTime({
    limitSeconds: (orgId) => this.#querySeconds(orgId),
    millis: () => performance.now(),
  })

  constructor(db: Database, defaults: QuotaLimits) {
    this.#db = db
    this.#defaults = defaults
  }

  async assertRoom(orgId: number, name: StoredQuota, count = 1): Promise<void> {
    const key = `${orgId} ${name}`
    const allowance = this.#allowance.get(key)
    if (allowance !== undefined && allowance.left >= count) {
      allowance.left -= count
      return
    }
    const { left, limit } = await this.roomFor(orgId, name)
    if (count > left) throw quotaReached(name, limit)
    if (storing.includes(name)) await this.assertRoom(orgId, 'stored_bytes')
    this.#allowance.set(key, { left: Math.floor((left - count) * allowanceShare) })
  }

  async assertMayRecord(orgId: number): Promise<void> {
    let exceeded = this.#exceededStorage.get(orgId)
    if (exceeded === undefined) {
      const { used, own } = await storedBytes(this.#db.read, orgId)
      const limit = own.stored_bytes ?? this.#defaults.stored_bytes
      exceeded = { limit: used > limit * recordingShare ? limit : null }
      const ttl = exceeded.limit === null ? storageTtlMs : exceededStorageTtlMs
      this.#exceededStorage.set(orgId, exceeded, { ttl })
    }
    if (exceeded.limit !== null) throw quotaReached('stored_bytes', exceeded.limit)
  }

  async roomFor(orgId: number, name: StoredQuota): Promise<{ left: number; limit: number }> {
    const [used, limit] = await Promise.all([quotaUse(this.#db.read, orgId, name), this.limit(orgId, name)])
    return { left: Math.max(0, limit - used), limit }
  }

  list(orgId: number): Promise<QuotaState[]> {
    return Promise.all(quotaNames.map((name) => this.#state(orgId, name)))
  }

  /** Sets quotas for the organization; null restores the default. */
  async set(orgId: number, changes: Partial<Record<QuotaName, number | null>>): Promise<void> {
    await this.#db.withTenant(orgId, async (tx) => {
      const next = Object.entries({ ...(await ownQuotas(tx, orgId)), ...changes }).filter(([, limit]) => limit !== null)
      await setOwnQuotas(tx, orgId, Object.fromEntries(next))
    })
    for (const name of quotaNames) this.#allowance.delete(`${orgId} ${name}`)
    this.#queryLimits.delete(orgId)
    this.#exceededStorage.delete(orgId)
  }

  async #state(orgId: number, name: QuotaName): Promise<QuotaState> {
    const [used, own] = await Promise.all([
      isStored(name) ? quotaUse(this.#db.read, orgId, name) : null,
      ownQuotas(this.#db.read, orgId),
    ])
    return { name, used, limit: own[name] ?? this.#defaults[name], isOwn: own[name] !== undefined }
  }

  async limit(orgId: number, name: QuotaName): Promise<number> {
    return (await ownQuotas(this.#db.read, orgId))[name] ?? this.#defaults[name]
  }

  async #querySeconds(orgId: number): Promise<number> {
    const known = this.#queryLimits.get(orgId)
    if (known !== undefined) return known
    const limit = await this.limit(orgId, 'query_seconds')
    this.#queryLimits.set(orgId, limit)
    return limit
  }
}
