import { setMaxListeners } from 'node:events'
import { type Clock, now } from '../kernel/clock.ts'
import { millisOf } from '../kernel/instant.ts'
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

const firstPlaces = 4
/** An endpoint that answers this fast is claimed for ahead, so that it never waits for the database. */
const quickMs = 100
const aheadTimes = 8

/** Lets so many through at the same time, the others in the order they came. */
class Gate {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(free: number) {
    this.#free = free
  }

  /** Undefined when there is room at once, else what to wait for. */
  take(): Promise<void> | undefined {
    if (this.#free === 0) return new Promise((resume) => this.#waiting.push(resume))
    this.#free--
    return undefined
  }

  give(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}

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
  #held = 0
  #onEmpty: (() => void) | null = null
  readonly #turns: Gate
  #outlet: Outlet | undefined
  #period: number | null = null
  #places: number
  #changed = patient()
  /** There may be more to claim than was claimed last. */
  hasMore = false
  isClaiming = false
  /** Nothing is sent while news of the webhook are being read. */
  news: Promise<void> | null = null
  changes = 0
  lastUsedMs: number

  constructor(needs: LaneNeeds) {
    this.#needs = needs
    this.#turns = new Gate(needs.places)
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
  take(claimed: Claimed, from: Sender, onDone: () => void): void {
    this.lastUsedMs = this.#needs.clock.millis()
    this.#held++
    const done = (): void => {
      if (--this.#held === 0) this.#onEmpty?.()
      onDone()
    }
    void this.#deliver(claimed, from).then(done)
  }

  async #deliver({ move, period }: Claimed, { webhookId, secret }: Sender): Promise<void> {
    const { clock, pausesMs, onAttempt, onDropped } = this.#needs
    let signed: Signed | undefined
    for (let attempt = 1; ; attempt++) {
      // Waited for only where there is something to wait for.
      const turn = this.#turns.take()
      if (turn !== undefined) await turn
      // Released in every case below: nothing between here and the end of the attempt may leave without it.
      if (this.news !== null) await this.news
      const outlet = this.#outlet
      const isStopped = this.#cutOff.signal.aborted
      if (isStopped || outlet === undefined || period !== this.#period) {
        this.#turns.give()
        return onDropped(isStopped ? 'stopped' : 'switched_off', 1)
      }
      signed ??= signedOf(move, secret, clock)
      const attemptedAt = now(clock)
      const outcome = await outlet.post(signed)
      this.#turns.give()
      this.#learnFrom(outcome)
      onAttempt(webhookId, { ...outcome, deliveryId: move.deliveryId, attempt, attemptedAt })
      if (outcome.isDelivered) return
      const pauseMs = pausesMs[attempt - 1]
      if (pauseMs === undefined) return onDropped('failed', 1)
      await this.#pause(jittered(pauseMs))
    }
  }

  #learnFrom({ isDelivered, durationMs }: Outcome): void {
    const { places } = this.#needs
    const most = durationMs <= quickMs ? places * aheadTimes : places
    this.#places = isDelivered
      ? Math.min(most, this.#places + 1)
      : Math.max(1, Math.floor(Math.min(places, this.#places) / 2))
  }

  /** Ends early when the period changes or the process stops. */
  #pause(ms: number): Promise<void> {
    const signals = [this.#cutOff.signal, this.#changed.signal]
    return new Promise((resolve) => {
      if (signals.some((signal) => signal.aborted)) return resolve()
      const end = (): void => {
        clearTimeout(timer)
        for (const signal of signals) signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      for (const signal of signals) signal.addEventListener('abort', end)
    })
  }

  /** Lets what is under way end, and cuts it off when the time is over. */
  async close(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#cutOff.abort(), graceMs)
    if (this.#held > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve))
    clearTimeout(timer)
    await this.#outlet?.close()
  }
}
