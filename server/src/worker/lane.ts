import { setMaxListeners } from 'node:events'
import { type Clock, now } from '../kernel/clock.ts'
import { type Instant, millisOf } from '../kernel/instant.ts'
import type { RecordedMove } from '../tracking/moves.sql.ts'
import type { Attempt } from '../webhooks/attempts.sql.ts'
import type { OnDropped } from '../webhooks/commands.ts'
import { jittered } from '../webhooks/ladder.ts'
import type { Claimed } from '../webhooks/outbox.sql.ts'
import { bodyOf } from '../webhooks/payload.ts'
import { type Outcome, Outlet } from '../webhooks/send.ts'
import { type Signed, sign } from '../webhooks/signature.ts'
import type { Target } from '../webhooks/target.ts'

export interface LaneNeeds {
  clock: Clock
  target: Target
  timeoutMs: number
  pausesMs: readonly number[]
  /** The most requests to one organization's endpoint at the same time. */
  places: number
  onAttempt: (webhookId: number, attempt: Attempt & { isDelivered: boolean }) => void
  onDropped: OnDropped
}

/** Whose event it is: the webhook, and the secret it is signed with. */
interface Sender {
  webhookId: number
  secret: string
}

/** An event on its way, from its claim to its last attempt. */
interface Delivery extends Claimed {
  readonly from: Sender
  readonly onDone: () => void
  attempts: number
  signed: Signed | null
}

const firstPlaces = 4
/** An endpoint that answers this fast is claimed for ahead, so that it never waits for the database. */
const quickMs = 100
const aheadTimes = 8
/** So many attempts begin in one turn of the loop: each is signed and encrypted, and others are heard in between. */
const begunAtOnce = 2

/** Made when its first attempt begins, and the same for every attempt. */
function signedOf(move: RecordedMove, secret: string, clock: Clock): Signed {
  const times = { occurredMs: millisOf(move.occurredAt), startedMs: clock.millis() }
  return sign(secret, { id: move.deliveryId, body: bodyOf(move), ...times })
}

/** Everything under way listens to it, which is no leak. */
function patient(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}

/**
 * The deliveries of one organization. An event keeps its place from its first attempt to its last, so a lane holds no
 * more than its places, and what it cannot hold waits in the database. A lane that delivers gets more places, and some
 * ahead where answers come fast; one whose endpoint fails loses them, down to one, so that dead endpoints hold next to
 * nothing of the process.
 */
export class Lane {
  readonly #needs: LaneNeeds
  readonly #cutOff = patient()
  /** Events whose next attempt can begin, and how many attempts are under way. */
  readonly #ready: Delivery[] = []
  #underWay = 0
  #begunInTurn = 0
  #held = 0
  #onEmpty: (() => void) | null = null
  #outlet: Outlet | undefined
  #period: number | null = null
  #places: number
  #changed = patient()
  /** There may be more to claim than was claimed last. */
  hasMore = false
  /** Nothing is sent while news of the webhook are being read. */
  news: Promise<void> | null = null
  changes = 0
  lastUsedMs: number

  constructor(needs: LaneNeeds) {
    this.#needs = needs
    this.#places = Math.min(firstPlaces, needs.places)
    this.lastUsedMs = needs.clock.millis()
  }

  get held(): number {
    return this.#held
  }

  /** How many more events it may hold. */
  get room(): number {
    return Math.max(0, this.#places - this.held)
  }

  /** Claiming is worth a statement: half of the places are free. */
  get isHungry(): boolean {
    return this.room * 2 >= this.#places
  }

  /** Where events go from now on; what belongs to another period ends before its next attempt. */
  aim(url: string | null, period: number | null): void {
    if (this.#outlet !== undefined && this.#outlet.url !== url) {
      void this.#outlet.close().catch(() => undefined)
      this.#outlet = undefined
    }
    if (url !== null) {
      const { target, places: connections, timeoutMs } = this.#needs
      this.#outlet ??= new Outlet(target, { url, connections, timeoutMs, cutOff: this.#cutOff.signal })
    }
    if (period === this.#period) return
    this.#period = period
    this.#changed.abort()
    this.#changed = patient()
  }

  /** Delivers in the background and calls back when the place is free again. */
  take({ move, period }: Claimed, from: Sender, onDone: () => void): void {
    this.lastUsedMs = this.#needs.clock.millis()
    this.#held++
    this.#ready.push({ move, period, from, onDone, attempts: 0, signed: null })
    this.#beginNext()
  }

  /** As many attempts at the same time as there are places, the others in the order they came. */
  #beginNext(): void {
    while (this.#underWay < this.#needs.places && this.#ready.length > 0 && this.#begunInTurn < begunAtOnce) {
      if (this.news !== null) return void this.news.then(() => this.#beginNext())
      if (this.#begunInTurn++ === 0) setImmediate(this.#beginTurn)
      this.#begin(this.#ready.shift()!)
    }
  }

  readonly #beginTurn = (): void => {
    this.#begunInTurn = 0
    this.#beginNext()
  }

  #begin(delivery: Delivery): void {
    const { clock } = this.#needs
    const outlet = this.#outlet
    if (this.#cutOff.signal.aborted) return this.#drop(delivery, 'stopped')
    if (outlet === undefined || delivery.period !== this.#period) return this.#drop(delivery, 'switched_off')
    delivery.signed ??= signedOf(delivery.move, delivery.from.secret, clock)
    delivery.attempts++
    const attemptedAt = now(clock)
    this.#underWay++
    outlet.post(delivery.signed, (outcome) => {
      this.#underWay--
      this.#answered(delivery, attemptedAt, outcome)
      this.#beginNext()
    })
  }

  #answered(delivery: Delivery, attemptedAt: Instant, outcome: Outcome): void {
    const { pausesMs, onAttempt } = this.#needs
    const { deliveryId } = delivery.move
    const { isDelivered, status, error, durationMs } = outcome
    const attempt = delivery.attempts
    this.#learnFrom(outcome)
    onAttempt(delivery.from.webhookId, { deliveryId, attempt, attemptedAt, isDelivered, status, error, durationMs })
    if (isDelivered) return this.#finish(delivery)
    const pauseMs = pausesMs[attempt - 1]
    if (pauseMs === undefined) return this.#drop(delivery, 'failed')
    this.#pause(jittered(pauseMs), () => {
      this.#ready.push(delivery)
      this.#beginNext()
    })
  }

  #drop(delivery: Delivery, reason: Parameters<OnDropped>[0]): void {
    this.#needs.onDropped(reason, 1)
    this.#finish(delivery)
  }

  #finish({ onDone }: Delivery): void {
    if (--this.#held === 0) this.#onEmpty?.()
    onDone()
  }

  #learnFrom({ isDelivered, durationMs }: Outcome): void {
    const { places } = this.#needs
    const most = durationMs <= quickMs ? places * aheadTimes : places
    this.#places = isDelivered
      ? Math.min(most, this.#places + 1)
      : Math.max(1, Math.floor(Math.min(places, this.#places) / 2))
  }

  /** Ends early when the period changes or the process stops. */
  #pause(ms: number, over: () => void): void {
    const signals = [this.#cutOff.signal, this.#changed.signal]
    const end = (): void => {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', end)
      over()
    }
    const timer = setTimeout(end, signals.some((signal) => signal.aborted) ? 0 : ms)
    for (const signal of signals) signal.addEventListener('abort', end)
  }

  /** Lets what is under way end, and cuts it off when the time is over. */
  async close(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#cutOff.abort(), graceMs)
    if (this.#held > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve))
    clearTimeout(timer)
    await this.#outlet?.close()
  }
}
