import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { hashSecret } from '../kernel/secrets.ts'
import type { Device } from '../readers/reader.ts'
import { findDevice, findInDirectory } from '../readers/readers.sql.ts'

interface CachedReader {
  device: Device
  loadedAtMs: number
}

const ttlMs = 60_000

/** Finds readers by token or topic. Entries are used only while this process receives events about changed readers. */
export class ReaderCache {
  readonly #db: Database
  readonly #clock: Clock
  readonly #isConnected: () => boolean
  readonly #cached = new LRUCache<string, CachedReader>({ max: 20_000 })
  readonly #loading = new Map<string, Promise<Device | null>>()
  #changes = 0

  constructor(deps: { db: Database; clock: Clock; isConnected: () => boolean }) {
    this.#db = deps.db
    this.#clock = deps.clock
    this.#isConnected = deps.isConnected
  }

  byToken(token: string): Promise<Device | null> {
    const tokenHash = hashSecret(token)
    return this.#find(tokenHash.toString('base64'), { tokenHash })
  }

  byTopic(topicKey: string): Promise<Device | null> {
    return this.#find(topicKey, { topicKey })
  }

  /** Called when a reader was changed or deleted by any process. */
  forgetAll(): void {
    this.#cached.clear()
    this.#loading.clear()
    this.#changes++
  }

  #find(key: string, by: Parameters<typeof findInDirectory>[1]): Promise<Device | null> {
    const cached = this.#cached.get(key)
    const isFresh = cached !== undefined && this.#clock.millis() - cached.loadedAtMs < ttlMs
    if (isFresh && this.#isConnected()) return Promise.resolve(cached.device)
    // Messages that wait for the same lookup keep their order.
    const loading = this.#loading.get(key) ?? this.#load(key, by)
    this.#loading.set(key, loading)
    const done = (): void => {
      if (this.#loading.get(key) === loading) this.#loading.delete(key)
    }
    loading.then(done, done)
    return loading
  }

  async #load(key: string, by: Parameters<typeof findInDirectory>[1]): Promise<Device | null> {
    const atMs = this.#clock.millis()
    const changes = this.#changes
    const entry = await findInDirectory(this.#db.read, by)
    const device = entry === null ? null : await findDevice(this.#db.read, entry.orgId, entry.readerId)
    // The reader may have changed after it was read.
    if (changes !== this.#changes) return this.#load(key, by)
    if (device !== null) this.#cached.set(key, { device, loadedAtMs: atMs })
    else this.#cached.delete(key)
    return device
  }
}
