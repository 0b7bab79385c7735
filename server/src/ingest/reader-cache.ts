import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { hashSecret } from '../kernel/secrets.ts'
import type { Device } from '../readers/reader.ts'
import { findDevice, findInDirectory } from '../readers/readers.sql.ts'

interface Remembered {
  device: Device
  loadedAtMs: number
}

const memoryMs = 60_000

/** Finds the reader behind a token or a topic. Remembered while news of changed readers reach this process. */
export class ReaderCache {
  readonly #db: Database
  readonly #clock: Clock
  readonly #isConnected: () => boolean
  readonly #known = new LRUCache<string, Remembered>({ max: 20_000 })
  readonly #looking = new Map<string, Promise<Device | null>>()
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

  /** A reader was changed or removed somewhere. */
  forgetAll(): void {
    this.#known.clear()
    this.#looking.clear()
    this.#changes++
  }

  #find(key: string, by: Parameters<typeof findInDirectory>[1]): Promise<Device | null> {
    const known = this.#known.get(key)
    const isFresh = known !== undefined && this.#clock.millis() - known.loadedAtMs < memoryMs
    if (isFresh && this.#isConnected()) return Promise.resolve(known.device)
    // Messages that wait for the same look-up stay in the order in which they came.
    const looking = this.#looking.get(key) ?? this.#look(key, by)
    this.#looking.set(key, looking)
    const done = (): void => {
      if (this.#looking.get(key) === looking) this.#looking.delete(key)
    }
    looking.then(done, done)
    return looking
  }

  async #look(key: string, by: Parameters<typeof findInDirectory>[1]): Promise<Device | null> {
    const atMs = this.#clock.millis()
    const changes = this.#changes
    const entry = await findInDirectory(this.#db.read, by)
    const device = entry === null ? null : await findDevice(this.#db.read, entry.orgId, entry.readerId)
    // The reader may have been changed after it was read.
    if (changes !== this.#changes) return this.#look(key, by)
    if (device !== null) this.#known.set(key, { device, loadedAtMs: atMs })
    else this.#known.delete(key)
    return device
  }
}
