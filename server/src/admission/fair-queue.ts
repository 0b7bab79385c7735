import { apiError } from '../kernel/errors.ts'

/** An organization's id, or the client address for requests that belong to no organization. */
export type TenantKey = number | string

export interface FairQueueOptions {
  /** Units of work in flight at the same time. */
  maxInFlight: number
  /** Units of one tenant that may wait. */
  maxWaitingPerTenant?: number
  /** Units that may wait over all tenants. A tenant that has nothing waiting may always queue one. */
  maxWaiting?: number
  /** How long a unit may wait. */
  timeoutMs?: number
}

interface Waiter {
  readonly cost: number
  readonly start: () => void
  readonly reject: (error: Error) => void
  readonly isAbandoned: () => boolean
  timer: NodeJS.Timeout | undefined
}

interface Tenant {
  readonly key: TenantKey
  inFlight: number
  /** The cost that the tenant may still start before the queue moves on to the next tenant. */
  deficit: number
  readonly waiting: Waiter[]
}

/** The cost added to a tenant's deficit in each round. */
const quantum = 16

const isNeverAbandoned = (): boolean => false

/**
 * Shares a bounded number of slots among tenants by deficit round robin: a free slot goes to the next tenant with waiting
 * units, and costly units use up more of a tenant's share. The last quarter of the slots is reserved for tenants with
 * nothing in flight, so that a tenant with slow work never holds all slots and another tenant can start at once. Units are
 * rejected with the contract's 429 when the queue is full or they wait too long.
 */
export class FairQueue {
  readonly #options: Required<FairQueueOptions>
  readonly #reservedSlots: number
  readonly #tenants = new Map<TenantKey, Tenant>()
  /** Tenants with waiting units, in round-robin order. */
  readonly #waitingTenants = new Set<Tenant>()
  #inFlight = 0
  #waiting = 0
  #isClosed = false

  constructor({ maxInFlight, maxWaitingPerTenant = Infinity, maxWaiting = Infinity, timeoutMs = 0 }: FairQueueOptions) {
    this.#options = { maxInFlight, maxWaitingPerTenant, maxWaiting, timeoutMs }
    this.#reservedSlots = maxInFlight === 1 ? 0 : Math.ceil(maxInFlight / 4)
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * Resolves when the unit may start; the caller must then call `release`. A waiting unit whose client has disconnected
   * (`isAbandoned`) is dropped.
   */
  acquire(key: TenantKey, cost = 1, isAbandoned = isNeverAbandoned): Promise<void> {
    if (this.#isClosed) return Promise.reject(closed())
    const tenant = this.#tenant(key)
    if (tenant.waiting.length === 0 && this.#mayStart(tenant)) {
      this.#start(tenant)
      return Promise.resolve()
    }
    if (!this.#mayWait(tenant)) return Promise.reject(apiError.busy())
    return new Promise((start, reject) => this.#enqueue(tenant, { cost, start, reject, isAbandoned, timer: undefined }))
  }

  release(key: TenantKey): void {
    const tenant = this.#tenants.get(key)!
    tenant.inFlight--
    this.#inFlight--
    this.#removeIfIdle(tenant)
    this.#dispatch()
  }

  async run<Result>(key: TenantKey, cost: number, work: () => Promise<Result>): Promise<Result> {
    await this.acquire(key, cost)
    try {
      return await work()
    } finally {
      this.release(key)
    }
  }

  /** Rejects all waiting and future units. Units in flight may finish. */
  close(): void {
    this.#isClosed = true
    for (const tenant of this.#waitingTenants)
      for (const waiter of [...tenant.waiting]) this.#drop(tenant, waiter, closed())
  }

  #tenant(key: TenantKey): Tenant {
    const known = this.#tenants.get(key)
    if (known !== undefined) return known
    const tenant: Tenant = { key, inFlight: 0, deficit: 0, waiting: [] }
    this.#tenants.set(key, tenant)
    return tenant
  }

  #mayStart(tenant: Tenant): boolean {
    const free = this.#options.maxInFlight - this.#inFlight
    return free > (tenant.inFlight === 0 ? 0 : this.#reservedSlots)
  }

  #mayWait(tenant: Tenant): boolean {
    if (tenant.waiting.length === 0) return true
    return tenant.waiting.length < this.#options.maxWaitingPerTenant && this.#waiting < this.#options.maxWaiting
  }

  #start(tenant: Tenant): void {
    tenant.inFlight++
    this.#inFlight++
  }

  #enqueue(tenant: Tenant, waiter: Waiter): void {
    const { timeoutMs } = this.#options
    if (timeoutMs > 0) waiter.timer = setTimeout(() => this.#drop(tenant, waiter, apiError.busy()), timeoutMs).unref()
    tenant.waiting.push(waiter)
    this.#waitingTenants.add(tenant)
    this.#waiting++
  }

  #drop(tenant: Tenant, waiter: Waiter, error: Error): void {
    this.#remove(tenant, waiter)
    waiter.reject(error)
    this.#removeIfIdle(tenant)
  }

  #remove(tenant: Tenant, waiter: Waiter): void {
    clearTimeout(waiter.timer)
    tenant.waiting.splice(tenant.waiting.indexOf(waiter), 1)
    this.#waiting--
    if (tenant.waiting.length > 0) return
    this.#waitingTenants.delete(tenant)
    tenant.deficit = 0
  }

  /** Assigns free slots to waiting units. */
  #dispatch(): void {
    for (let tenant = this.#next(); tenant !== undefined; tenant = this.#next()) {
      const waiter = tenant.waiting[0]!
      if (waiter.isAbandoned()) {
        this.#drop(tenant, waiter, apiError.busy())
      } else if (tenant.deficit < waiter.cost) {
        tenant.deficit += quantum
        this.#waitingTenants.delete(tenant)
        this.#waitingTenants.add(tenant)
      } else {
        tenant.deficit -= waiter.cost
        this.#remove(tenant, waiter)
        this.#start(tenant)
        waiter.start()
      }
    }
  }

  /** The first waiting tenant that may start a unit. */
  #next(): Tenant | undefined {
    if (this.#inFlight >= this.#options.maxInFlight) return undefined
    for (const tenant of this.#waitingTenants) if (this.#mayStart(tenant)) return tenant
    return undefined
  }

  #removeIfIdle(tenant: Tenant): void {
    if (tenant.inFlight === 0 && tenant.waiting.length === 0) this.#tenants.delete(tenant.key)
  }
}

const closed = (): Error => new Error('the queue is closed')
