import { LRUCache } from 'lru-cache'
import type { FairQueue } from '../admission/fair-queue.ts'
import type { Database } from '../db/database.ts'
import type { PubSub } from '../db/pubsub.ts'
import type { Clock } from '../kernel/clock.ts'
import { instantFromMillis, millisOf } from '../kernel/instant.ts'
import { hashSecret, readerTokenPattern } from '../kernel/secrets.ts'
import type { Device } from '../readers/reader.ts'
import { findDevice, findInDirectory, validTokens } from '../readers/readers.sql.ts'
import type { Refusal } from './reader-refusals.ts'

export interface Login {
  device: Device
  /** When the token expires; null unless the token of the reader was replaced. */
  expiresAtMs: number | null
}

interface CachedLogin extends Login {
  loadedAtMs: number
}

interface ReaderCacheDeps {
  db: Database
  clock: Clock
  pubsub: Pick<PubSub, 'isConnected'>
  /** Queries for tokens that are not cached, per client address, so that wrong tokens do not delay other requests. */
  anonymousQueue: FairQueue
  /** The organization of an id. */
  ownerOf: (id: number) => Promise<number | null>
}

const ttlMs = 60_000

/** Finds readers by token or topic. Entries are used only while this process receives events about changed readers. */
export class ReaderCache {
  readonly #db: Database
  readonly #clock: Clock
  readonly #pubsub: Pick<PubSub, 'isConnected'>
  readonly #anonymousQueue: FairQueue
  readonly #ownerOf: (id: number) => Promise<number | null>
  readonly #cached = new LRUCache<string, CachedLogin>({ max: 20_000 })
  /** Readers by the tokens and topics that were valid at any time since the start, to name them when they are refused. */
  readonly #former = new LRUCache<string, Device>({ max: 20_000 })
  readonly #loading = new Map<string, Promise<Login | null>>()
  /** For each query in flight, the readers that have changed since it began; null when any may have. */
  readonly #changedSince = new Set<{ readerIds: Set<number> | null }>()

  constructor(deps: ReaderCacheDeps) {
    this.#db = deps.db
    this.#clock = deps.clock
    this.#pubsub = deps.pubsub
    this.#anonymousQueue = deps.anonymousQueue
    this.#ownerOf = deps.ownerOf
  }

  /** `address` is the client address of a request or login that this token has to authenticate. */
  loginByToken(token: string, address: string): Promise<Login | null> {
    if (!readerTokenPattern.test(token)) return Promise.resolve(null)
    const tokenHash = hashSecret(token)
    return this.#find(tokenHash.toString('base64'), { tokenHash }, address)
  }

  /** The reader that this process has seen with the token, which may have been rotated since. */
  formerByToken(token: string): Device | null {
    return this.#former.get(hashSecret(token).toString('base64')) ?? null
  }

  /** Why a login over MQTT was refused. `device` is the reader of the token, if there is one. */
  async whyRefused(
    token: string,
    userName: string | undefined,
    device: Device | null,
  ): Promise<Pick<Refusal, 'reason' | 'device'>> {
    if (device !== null) return { reason: 'wrong_user_name', device }
    const former = this.formerByToken(token)
    if (former !== null) return { reason: 'revoked_token', device: former }
    return { reason: token === '' ? 'missing_token' : 'unknown_token', device: await this.#byId(userName ?? '') }
  }

  /** The reader with this id, which is not cached: only for log lines. */
  async #byId(text: string): Promise<Device | null> {
    const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN
    const orgId = Number.isSafeInteger(id) ? await this.#ownerOf(id) : null
    return orgId === null ? null : findDevice(this.#db.read, orgId, id)
  }

  /** The expiry of each token that is valid. One statement checks all of them in the database. */
  async expiryOf(tokens: readonly string[]): Promise<Map<string, Pick<Login, 'expiresAtMs'>>> {
    const hashes = new Map(tokens.map((token) => [token, hashSecret(token).toString('base64')]))
    const valid = await validTokens(this.#db.read, [...hashes.values()], instantFromMillis(this.#clock.millis()))
    const expiries = new Map<string, Pick<Login, 'expiresAtMs'>>()
    for (const [token, hash] of hashes) {
      const expiresAt = valid.get(hash)
      if (expiresAt !== undefined) expiries.set(token, { expiresAtMs: expiresAt === null ? null : millisOf(expiresAt) })
    }
    return expiries
  }

  async byToken(token: string, address: string): Promise<Device | null> {
    return (await this.loginByToken(token, address))?.device ?? null
  }

  async byTopic(topicKey: string): Promise<Device | null> {
    return (await this.#find(topicKey, { topicKey }))?.device ?? null
  }

  /** Called when a reader was changed or deleted by any process. The readers of other tenants stay cached. */
  invalidate(readerId: number): void {
    for (const [key, { device }] of [...this.#cached.entries()])
      if (device.readerId === readerId) this.#cached.delete(key)
    this.#loading.clear()
    for (const changed of this.#changedSince) changed.readerIds?.add(readerId)
  }

  /** Called when any reader may have changed. */
  invalidateAll(): void {
    this.#cached.clear()
    this.#loading.clear()
    for (const changed of this.#changedSince) changed.readerIds = null
  }

  #find(key: string, by: Parameters<typeof findInDirectory>[1], address?: string): Promise<Login | null> {
    const cached = this.#cached.get(key)
    const nowMs = this.#clock.millis()
    const isFresh =
      cached !== undefined && nowMs - cached.loadedAtMs < ttlMs && nowMs < (cached.expiresAtMs ?? Infinity)
    if (isFresh && this.#pubsub.isConnected()) return Promise.resolve(cached)
    // Messages that wait for the same lookup keep their order.
    const load = (): Promise<Login | null> => this.#load(key, by)
    const loading =
      this.#loading.get(key) ?? (address === undefined ? load() : this.#anonymousQueue.run(address, 1, load))
    this.#loading.set(key, loading)
    const done = (): void => {
      if (this.#loading.get(key) === loading) this.#loading.delete(key)
    }
    loading.then(done, done)
    return loading
  }

  async #load(key: string, by: Parameters<typeof findInDirectory>[1]): Promise<Login | null> {
    const loadedAtMs = this.#clock.millis()
    const changed: { readerIds: Set<number> | null } = { readerIds: new Set() }
    this.#changedSince.add(changed)
    const login = await this.#query(by, loadedAtMs).finally(() => this.#changedSince.delete(changed))
    // The reader may have changed after it was read.
    if (changed.readerIds?.has(login?.device.readerId ?? Number.NaN) ?? true) return this.#load(key, by)
    if (login === null) this.#cached.delete(key)
    else {
      this.#cached.set(key, { ...login, loadedAtMs })
      this.#former.set(key, login.device)
    }
    return login
  }

  async #query(by: Parameters<typeof findInDirectory>[1], atMs: number): Promise<Login | null> {
    const entry = await findInDirectory(this.#db.read, by, instantFromMillis(atMs))
    const device = entry === null ? null : await findDevice(this.#db.read, entry.orgId, entry.readerId)
    if (entry === null || device === null) return null
    return { device, expiresAtMs: entry.expiresAt === null ? null : millisOf(entry.expiresAt) }
  }
}
