import { FairQueue } from '../../admission/fair-queue.ts'
import type { Database } from '../../db/database.ts'
import { type Instant, instantFromMillis, millisOf } from '../../kernel/instant.ts'
import type { SecretBox } from '../../kernel/secret-box.ts'
import { giveUpExpired, staleMs } from '../commands.ts'
import { claimMoves, findPendingMoves } from '../outbox.sql.ts'
import { secretContext } from '../webhook.ts'
import { findWebhook, organizationsDeliveredTo } from '../webhooks.sql.ts'
import { EndpointQueue, type EndpointQueueDeps } from './endpoint-queue.ts'
import { traceClaim } from './trace-delivery.ts'

export interface DelivererDeps extends Omit<EndpointQueueDeps, 'onAttempt'> {
  db: Database
  secretBox: SecretBox
  /** The maximum number of events in flight in the process. An organization without any may always have one more. */
  maxInFlight: number
  sweepMs: number
  onAttempt: (orgId: number, ...attempt: Parameters<EndpointQueueDeps['onAttempt']>) => void
  /** Called after each sweep with the age of the oldest event that waited for delivery; 0 without such an event. */
  onSwept: (oldestAgeMs: number) => void
  /** Runs a sweep, and counts and logs its outcome. Never rejects. */
  runSweep: (sweep: () => Promise<void>) => Promise<void>
  onFailure: (error: unknown) => void
}

/** Claims share the connections of API requests and readers, so few claims run at the same time. */
const maxClaimsInFlight = 2
const idleMs = 30_000
const retryMs = 1000

/**
 * Claims moves and delivers them, for every organization with a webhook. Events announce new moves; a periodic sweep
 * over all organizations finds the moves of lost events, and drops moves that must not be delivered any more.
 */
export class Deliverer {
  readonly #deps: DelivererDeps
  readonly #queues = new Map<number, EndpointQueue>()
  readonly #slots = new FairQueue({ maxInFlight: maxClaimsInFlight })
  /** Claims that wait or run, by organization. */
  readonly #claims = new Map<number, Promise<void>>()
  /** Organizations whose claim found no free slot, in the order of their claims. */
  readonly #withoutSlot = new Set<number>()
  #organizations = new Set<number>()
  #inFlight = 0
  #isStopped = false
  #sweeping: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(deps: DelivererDeps) {
    this.#deps = deps
  }

  /** How many events are claimed and neither delivered nor dropped. */
  get inFlight(): number {
    return this.#inFlight
  }

  start(): void {
    this.#timer = setInterval(() => void this.sweep(), this.#deps.sweepMs)
    this.#timer.unref()
    void this.sweep()
  }

  /** Called when the organization has new moves. */
  moved(orgId: number): void {
    if (this.#organizations.has(orgId)) this.#requestClaim(orgId)
  }

  /** The organization's webhook was created, changed or deleted, or its subscription lapsed or was reinstated. */
  changed(orgId: number): Promise<void> {
    const queue = this.#queues.get(orgId)
    const reload = (): Promise<void> => this.#reload(orgId, queue).catch(this.#deps.onFailure)
    return queue === undefined ? reload() : queue.reload(reload)
  }

  async #reload(orgId: number, queue: EndpointQueue | undefined): Promise<void> {
    const webhook = await findWebhook(this.#deps.db.read, orgId)
    const generation = webhook?.generation ?? null
    if (generation === null) this.#organizations.delete(orgId)
    else this.#organizations.add(orgId)
    queue?.setTarget(webhook?.url ?? null, generation)
  }

  /** Called when events may have been lost: reloads the webhooks in use, and looks for moves in every organization. */
  async onMissedEvents(): Promise<void> {
    await Promise.all([...this.#queues.keys()].map((orgId) => this.changed(orgId)))
    await this.sweep()
  }

  /** Joins the sweep that is running, if there is one. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#deps.runSweep(() => this.#sweepOnce()).finally(() => (this.#sweeping = undefined))
    return this.#sweeping
  }

  /** Stops claiming, and aborts the events in flight after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    await this.#sweeping
    this.#slots.close()
    await Promise.all(this.#claims.values())
    await Promise.all([...this.#queues.values()].map((queue) => queue.close(graceMs)))
  }

  async #sweepOnce(): Promise<void> {
    const { db } = this.#deps
    this.#organizations = new Set(await organizationsDeliveredTo(db.read))
    let oldestAgeMs = 0
    for (const orgId of this.#organizations) {
      if (this.#isStopped) return
      const { isDue, isExpired, oldest } = await findPendingMoves(db.read, orgId, this.#notBefore())
      if (isExpired) await giveUpExpired(this.#deps, orgId)
      if (isDue) this.#requestClaim(orgId)
      if (oldest !== null) oldestAgeMs = Math.max(oldestAgeMs, this.#deps.clock.millis() - millisOf(oldest))
    }
    this.#deps.onSwept(oldestAgeMs)
    await this.#closeIdleQueues()
  }

  async #closeIdleQueues(): Promise<void> {
    const idleSinceMs = this.#deps.clock.millis() - idleMs
    for (const [orgId, queue] of this.#queues)
      if (!queue.isBusy && !this.#claims.has(orgId) && queue.lastUsedMs < idleSinceMs) {
        this.#queues.delete(orgId)
        await queue.close(0)
      }
  }

  #notBefore(): Instant {
    return instantFromMillis(this.#deps.clock.millis() - staleMs)
  }

  /** Returns whether a claim is requested now. */
  #requestClaim(orgId: number): boolean {
    if (this.#isStopped) return false
    const queue = this.#queues.get(orgId) ?? this.#createQueue(orgId)
    queue.hasMore = true
    if (!queue.wantsMore || this.#claims.has(orgId)) return false
    const claim = this.#slots
      .run(orgId, 1, () => this.#claim(orgId, queue))
      // The fair queue rejects only when it is closed.
      .catch(() => false)
      .then((hasMore) => {
        this.#claims.delete(orgId)
        if (hasMore) this.#requestClaim(orgId)
      })
    this.#claims.set(orgId, claim)
    return true
  }

  #createQueue(orgId: number): EndpointQueue {
    const onAttempt: EndpointQueueDeps['onAttempt'] = (...attempt) => this.#deps.onAttempt(orgId, ...attempt)
    const queue = new EndpointQueue({ ...this.#deps, onAttempt })
    this.#queues.set(orgId, queue)
    return queue
  }

  /** Returns whether there may be more moves to claim now. */
  async #claim(orgId: number, queue: EndpointQueue): Promise<boolean> {
    const guaranteed = queue.inFlight === 0 ? 1 : 0
    const limit = Math.min(queue.claimable, Math.max(this.#deps.maxInFlight - this.#inFlight, guaranteed))
    if (limit === 0) {
      this.#withoutSlot.add(orgId)
      return false
    }
    queue.hasMore = false
    try {
      const claimed = await traceClaim(orgId, () => this.#claimFor(orgId, queue, limit))
      if (claimed === limit) queue.hasMore = true
    } catch (error) {
      this.#deps.onFailure(error)
      setTimeout(() => this.#requestClaim(orgId), retryMs).unref()
    }
    return queue.hasMore
  }

  async #claimFor(orgId: number, queue: EndpointQueue, limit: number): Promise<number> {
    const { db, secretBox } = this.#deps
    const { reloading } = queue
    const claim = await claimMoves(db, orgId, { limit, notBefore: this.#notBefore() })
    if (claim === null) return 0
    const { webhook, claimed } = claim
    const origin = {
      webhookId: webhook.id,
      secret: secretBox.decrypt(webhook.encryptedSecret, secretContext(orgId, webhook.id)),
    }
    // A reload that started during the claim reads a newer webhook than the claim did.
    if (queue.reloading === reloading) queue.setTarget(webhook.url, webhook.generation)
    this.#inFlight += claimed.length
    for (const one of claimed) void queue.deliver(one, origin).then(() => this.#slotFreed(orgId, queue))
    return claimed.length
  }

  #slotFreed(orgId: number, queue: EndpointQueue): void {
    this.#inFlight--
    if (this.#inFlight < this.#deps.maxInFlight) this.#requestClaimWithoutSlot()
    if (queue.hasMore) this.#requestClaim(orgId)
  }

  /** Claims for the organization that has waited longest for a slot of the process. */
  #requestClaimWithoutSlot(): void {
    for (const orgId of this.#withoutSlot) {
      this.#withoutSlot.delete(orgId)
      if (this.#requestClaim(orgId)) return
    }
  }
}
