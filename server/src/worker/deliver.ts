import { FairQueue } from '../admission/fair-queue.ts'
import type { Database } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { type Instant, instantFromMillis } from '../kernel/instant.ts'
import type { Seal } from '../kernel/sealed.ts'
import { type OnDropped, giveUpUndue, staleMs } from '../webhooks/commands.ts'
import { claimMoves, lookForMoves } from '../webhooks/outbox.sql.ts'
import type { Target } from '../webhooks/target.ts'
import { sealedFor } from '../webhooks/webhook.ts'
import { findWebhook, organizationsDeliveredTo } from '../webhooks/webhooks.sql.ts'
import { Lane, type LaneNeeds } from './lane.ts'

export interface DelivererNeeds extends Omit<LaneNeeds, 'onAttempt'> {
  db: Database
  clock: Clock
  seal: Seal
  target: Target
  /** The most events that the process holds at the same time, beside one of each organization. */
  maxHeld: number
  sweepMs: number
  onAttempt: (orgId: number, ...about: Parameters<LaneNeeds['onAttempt']>) => void
  onDropped: OnDropped
  onFailure: (error: unknown) => void
}

/** Claims run beside the statements of requests and readers, so only a few of them run at the same time. */
const maxClaimsInFlight = 2
const idleMs = 30_000
const retryMs = 1000

/**
 * Claims moves and sends them, for every organization that has a webhook. News tell where there is something; a sweep
 * over the directory finds what no news told of, and gives up what nobody is to be told any more.
 */
export class Deliverer {
  readonly #needs: DelivererNeeds
  readonly #lanes = new Map<number, Lane>()
  readonly #queue = new FairQueue({ maxInFlight: maxClaimsInFlight })
  /** Claims that wait or run, by organization. */
  readonly #claims = new Map<number, Promise<void>>()
  #organizations = new Set<number>()
  #held = 0
  #isStopped = false
  #sweeping: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(needs: DelivererNeeds) {
    this.#needs = needs
  }

  /** How many events are claimed and not finished. */
  get held(): number {
    return this.#held
  }

  start(): void {
    this.#timer = setInterval(() => void this.sweep(), this.#needs.sweepMs)
    this.#timer.unref()
    void this.sweep()
  }

  /** There are new moves in the organization. */
  moved(orgId: number): void {
    if (this.#organizations.has(orgId)) this.#ask(orgId)
  }

  /** The organization's webhook was made, changed or removed, or its standing was. */
  changed(orgId: number): Promise<void> {
    const lane = this.#lanes.get(orgId)
    const before = lane?.news ?? Promise.resolve()
    const news = before.then(() => this.#readNews(orgId, lane)).catch(this.#needs.onFailure)
    if (lane === undefined) return news
    lane.changes++
    lane.news = news
    return news.then(() => {
      if (lane.news === news) lane.news = null
    })
  }

  async #readNews(orgId: number, lane: Lane | undefined): Promise<void> {
    const webhook = await findWebhook(this.#needs.db.read, orgId)
    const period = webhook?.period ?? null
    if (period === null) this.#organizations.delete(orgId)
    else this.#organizations.add(orgId)
    lane?.aim(webhook?.url ?? null, period)
  }

  /** News may have been missed: look everywhere, also at the webhooks of what is under way. */
  async missedNews(): Promise<void> {
    await Promise.all([...this.#lanes.keys()].map((orgId) => this.changed(orgId)))
    await this.sweep()
  }

  /** One round over the directory; a round that is under way is not begun a second time. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweepOnce()
      .catch(this.#needs.onFailure)
      .finally(() => (this.#sweeping = undefined))
    return this.#sweeping
  }

  /** Claims nothing more; what is claimed may end within the time given. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    await this.#sweeping
    this.#queue.close()
    await Promise.all(this.#claims.values())
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close(graceMs)))
  }

  async #sweepOnce(): Promise<void> {
    const { db, clock } = this.#needs
    this.#organizations = new Set(await organizationsDeliveredTo(db.read))
    for (const orgId of this.#organizations) {
      if (this.#isStopped) return
      const { isDue, isUndue } = await lookForMoves(db.read, orgId, this.#notBefore())
      if (isUndue) await giveUpUndue(this.#needs, orgId)
      if (isDue) this.#ask(orgId)
    }
    for (const [orgId, lane] of this.#lanes)
      if (lane.held === 0 && clock.millis() - lane.lastUsedMs > idleMs) {
        this.#lanes.delete(orgId)
        await lane.close(0)
      }
  }

  #notBefore(): Instant {
    return instantFromMillis(this.#needs.clock.millis() - staleMs)
  }

  #ask(orgId: number): void {
    if (this.#isStopped) return
    const lane = this.#lanes.get(orgId) ?? this.#newLane(orgId)
    lane.hasMore = true
    if (!lane.isHungry || this.#claims.has(orgId)) return
    const claim = this.#queue
      .run(orgId, 1, () => this.#claim(orgId, lane))
      // The queue rejects only when it is closed.
      .catch(() => false)
      .then((hasMore) => {
        this.#claims.delete(orgId)
        if (hasMore) this.#ask(orgId)
      })
    this.#claims.set(orgId, claim)
  }

  #newLane(orgId: number): Lane {
    const lane = new Lane({ ...this.#needs, onAttempt: (...about) => this.#needs.onAttempt(orgId, ...about) })
    this.#lanes.set(orgId, lane)
    return lane
  }

  /** Says whether there may be more to claim at once. */
  async #claim(orgId: number, lane: Lane): Promise<boolean> {
    const limit = Math.min(lane.room, Math.max(this.#needs.maxHeld - this.#held, lane.held === 0 ? 1 : 0))
    if (limit === 0) return false
    lane.hasMore = false
    try {
      const claimed = await this.#claimFor(orgId, lane, limit)
      if (claimed === limit) lane.hasMore = true
    } catch (error) {
      this.#needs.onFailure(error)
      setTimeout(() => this.#ask(orgId), retryMs).unref()
    }
    return lane.hasMore
  }

  async #claimFor(orgId: number, lane: Lane, limit: number): Promise<number> {
    const { db, seal } = this.#needs
    const { changes } = lane
    const claim = await claimMoves(db, orgId, { limit, notBefore: this.#notBefore() })
    if (claim === null) return 0
    const { webhook, claimed } = claim
    const from = { webhookId: webhook.id, secret: seal.open(webhook.sealedSecret, sealedFor(orgId, webhook.id)) }
    // What changed while claiming is newer than what was claimed with; it is read before anything is sent.
    if (lane.changes === changes) lane.aim(webhook.url, webhook.period)
    this.#held += claimed.length
    const onDone = (): void => this.#placeFree(orgId, lane)
    for (const one of claimed) lane.take(one, from, onDone)
    return claimed.length
  }

  #placeFree(orgId: number, lane: Lane): void {
    this.#held--
    if (lane.hasMore) this.#ask(orgId)
  }
}
