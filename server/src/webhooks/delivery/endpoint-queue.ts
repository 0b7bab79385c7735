import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, now } from '../../kernel/clock.ts'
import { millisOf } from '../../kernel/instant.ts'
import type { RecordedMove } from '../../tracking/moves.sql.ts'
import type { Attempt } from '../attempts.sql.ts'
import { type OnDropped, staleMs } from '../commands.ts'
import type { Claimed } from '../outbox.sql.ts'
import { bodyOf } from '../payload.ts'
import { withJitter } from '../retry-schedule.ts'
import { WebhookSender } from '../sender.ts'
import { type Signed, sign } from '../signature.ts'
import type { GuardedConnector } from '../ssrf-guard.ts'
import { traceAttempt } from './trace-delivery.ts'

export interface EndpointQueueDeps {
  clock: Clock
  target: GuardedConnector
  timeoutMs: number
  retryDelaysMs: readonly number[]
  /** The maximum number of events in flight to one organization's endpoint. */
  maxConcurrency: number
  onAttempt: (webhookId: number, attempt: Attempt & { isDelivered: boolean }) => void
  onDropped: OnDropped
}

/** The webhook that an event was claimed for, and the secret that signs the event. */
interface Origin {
  webhookId: number
  secret: string
}

const initialConcurrency = 4

/**
 * The deliveries of one organization. An event occupies a slot from its first attempt to its last. Every success adds a
 * slot, up to `maxConcurrency`, and every failure halves the number of slots, down to one, so that endpoints that hang
 * occupy few slots of the process (D33). Events without a slot wait in the database. An endpoint that has all its slots
 * may have twice as many events claimed ahead: some wait for a slot while the next ones are claimed.
 */
export class EndpointQueue {
  readonly #deps: EndpointQueueDeps
  readonly #cutOff = new AbortController()
  readonly #deliveries = new Set<Promise<void>>()
  /** Starts the events that were claimed ahead, oldest first. */
  readonly #waiting: (() => void)[] = []
  #slotsInUse = 0
  #sender: WebhookSender | undefined
  #generation: number | null = null
  #concurrency: number
  /** True while the outbox may contain more events to claim. */
  hasMore = false
  lastUsedMs: number
  /** The latest reload of the webhook. Each call of `reload` replaces it. */
  reloading: Promise<void> = Promise.resolve()

  constructor(deps: EndpointQueueDeps) {
    this.#deps = deps
    this.#concurrency = Math.min(initialConcurrency, deps.maxConcurrency)
    this.lastUsedMs = deps.clock.millis()
    // Each event that waits for its next attempt listens to the signal.
    setMaxListeners(0, this.#cutOff.signal)
  }

  get concurrency(): number {
    return this.#concurrency
  }

  /** Claimed events that are not finished, including those that wait for a slot. */
  get inFlight(): number {
    return this.#deliveries.size
  }

  /** How many events may be claimed now. */
  get claimable(): number {
    return Math.max(0, this.#capacity - this.inFlight)
  }

  get #capacity(): number {
    const { maxConcurrency } = this.#deps
    return this.#concurrency === maxConcurrency ? 3 * maxConcurrency : this.#concurrency
  }

  get isBusy(): boolean {
    return this.hasMore || this.inFlight > 0
  }

  /**
   * The queue claims more events only when it has room for half of its maximum, so that each query claims many events.
   */
  get wantsMore(): boolean {
    return this.claimable * 2 >= this.#capacity
  }

  /** Runs reloads one after the other. No attempt starts before the last one has ended. */
  reload(work: () => Promise<void>): Promise<void> {
    this.reloading = this.reloading.then(work)
    return this.reloading
  }

  /** Attempts that start from now on go to this URL. Events of another generation are dropped before their next attempt. */
  setTarget(url: string | null, generation: number | null): void {
    this.#generation = generation
    if (this.#sender?.url === url) return
    void this.#sender?.close()
    const { target, maxConcurrency: connections, timeoutMs } = this.#deps
    const options = { connections, timeoutMs, cutOff: this.#cutOff.signal }
    this.#sender = url === null ? undefined : new WebhookSender(target, { url, ...options })
  }

  /** Resolves when the event is delivered or dropped. Never rejects. */
  deliver(claimed: Claimed, origin: Origin): Promise<void> {
    this.lastUsedMs = this.#deps.clock.millis()
    const delivery = this.#deliverInSlot(claimed, origin).finally(() => this.#deliveries.delete(delivery))
    this.#deliveries.add(delivery)
    return delivery
  }

  async #deliverInSlot(claimed: Claimed, origin: Origin): Promise<void> {
    if (this.#slotsInUse >= this.#concurrency) await new Promise<void>((start) => this.#waiting.push(start))
    else this.#slotsInUse++
    await this.#attemptUntilDone(claimed, origin).finally(() => this.#slotsInUse--)
    for (; this.#slotsInUse < this.#concurrency && this.#waiting.length > 0; this.#slotsInUse++)
      this.#waiting.shift()!()
  }

  /** Waits for the events in flight, and aborts them when the time is over. */
  async close(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#cutOff.abort(), graceMs)
    await Promise.all(this.#deliveries)
    clearTimeout(timer)
    await this.#sender?.close()
  }

  async #attemptUntilDone({ move, generation, traceparent }: Claimed, { webhookId, secret }: Origin): Promise<void> {
    const { clock, retryDelaysMs, onAttempt, onDropped } = this.#deps
    const { deliveryId } = move
    let signed: Signed | undefined
    let reloaded: Promise<void> | undefined
    for (let attempt = 1; ; attempt++) {
      while (reloaded !== this.reloading) await (reloaded = this.reloading)
      if (this.#cutOff.signal.aborted) return onDropped('stopped', 1)
      if (this.#sender === undefined || generation !== this.#generation) return onDropped('switched_off', 1)
      if (attempt === 1 && clock.millis() - millisOf(move.recordedAt) > staleMs) return onDropped('late', 1)
      signed ??= signMove(move, secret, clock)
      const attemptedAt = now(clock)
      const outcome = await traceAttempt(this.#sender, signed, { deliveryId, attempt, traceparent })
      this.#adjustConcurrency(outcome.isDelivered)
      onAttempt(webhookId, { deliveryId, attempt, attemptedAt, ...outcome })
      if (outcome.isDelivered) return
      const delayMs = retryDelaysMs[attempt - 1]
      if (delayMs === undefined) return onDropped('failed', 1)
      await sleep(withJitter(delayMs), undefined, { signal: this.#cutOff.signal }).catch(() => undefined)
    }
  }

  #adjustConcurrency(isDelivered: boolean): void {
    this.#concurrency = isDelivered
      ? Math.min(this.#deps.maxConcurrency, this.#concurrency + 1)
      : Math.max(1, Math.floor(this.#concurrency / 2))
  }
}

/** Every attempt sends the bytes that were signed when the first attempt started. */
function signMove(move: RecordedMove, secret: string, clock: Clock): Signed {
  const times = { occurredMs: millisOf(move.occurredAt), startedMs: clock.millis() }
  return sign(secret, { id: move.deliveryId, body: bodyOf(move), ...times })
}
