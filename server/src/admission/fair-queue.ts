import { apiError } from '../kernel/errors.ts'

/** An organization's id; another key where the caller is not known to belong to one. */
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
  /** What the tenant may still start before the next one's turn, in units of cost. */
  deficit: number
  readonly waiting: Waiter[]
}

/** What a tenant's turn adds to its deficit. */
const quantum = 16

const isNeverAbandoned = (): boolean => false

/**
 * Shares a bounded number of slots among tenants by deficit round robin: a slot that becomes free goes to the next tenant
 * that waits, and costly units count for more. The last quarter of the slots is given only to tenants with nothing in
 * flight, so that a tenant with slow work never holds all of them and a newcomer starts at once. Units that
 * find the queue full or wait too long are rejected with the contract's 429.
 */
export class FairQueue {
  readonly #options: Required<FairQueueOptions>
  readonly #reserved: number
  readonly #tenants = new Map<TenantKey, Tenant>()
  /** Tenants with waiting units, the one whose turn it is first. */
  readonly #turns = new Set<Tenant>()
  #inFlight = 0
  #waiting = 0
  #isClosed = false

  constructor({ maxInFlight, maxWaitingPerTenant = Infinity, maxWaiting = Infinity, timeoutMs = 0 }: FairQueueOptions) {
    this.#options = { maxInFlight, maxWaitingPerTenant, maxWaiting, timeoutMs }
    this.#reserved = maxInFlight === 1 ? 0 : Math.ceil(maxInFlight / 4)
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Resolves when the unit may start; `release` must follow. A unit that is abandoned while it waits is dropped. */
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
    this.#forgetIfIdle(tenant)
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

  /** Rejects what waits and everything that comes later. What is in flight may end. */
  close(): void {
    this.#isClosed = true
    for (const tenant of this.#turns) for (const waiter of [...tenant.waiting]) this.#drop(tenant, waiter, closed())
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
    return free > (tenant.inFlight === 0 ? 0 : this.#reserved)
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
    this.#turns.add(tenant)
    this.#waiting++
  }

  #drop(tenant: Tenant, waiter: Waiter, error: Error): void {
    this.#remove(tenant, waiter)
    waiter.reject(error)
    this.#forgetIfIdle(tenant)
  }

  #remove(tenant: Tenant, waiter: Waiter): void {
    clearTimeout(waiter.timer)
    tenant.waiting.splice(tenant.waiting.indexOf(waiter), 1)
    this.#waiting--
    if (tenant.waiting.length > 0) return
    this.#turns.delete(tenant)
    tenant.deficit = 0
  }

  /** Gives free slots to those that wait. */
  #dispatch(): void {
    for (let tenant = this.#next(); tenant !== undefined; tenant = this.#next()) {
      const waiter = tenant.waiting[0]!
      if (waiter.isAbandoned()) {
        this.#drop(tenant, waiter, apiError.busy())
      } else if (tenant.deficit < waiter.cost) {
        tenant.deficit += quantum
        this.#turns.delete(tenant)
        this.#turns.add(tenant)
      } else {
        tenant.deficit -= waiter.cost
        this.#remove(tenant, waiter)
        this.#start(tenant)
        waiter.start()
      }
    }
  }

  /** The first tenant in turn that may start something. */
  #next(): Tenant | undefined {
    if (this.#inFlight >= this.#options.maxInFlight) return undefined
    for (const tenant of this.#turns) if (this.#mayStart(tenant)) return tenant
    return undefined
  }

  #forgetIfIdle(tenant: Tenant): void {
    if (tenant.inFlight === 0 && tenant.waiting.length === 0) this.#tenants.delete(tenant.key)
  }
}

const closed = (): Error => new Error('the queue is closed')
