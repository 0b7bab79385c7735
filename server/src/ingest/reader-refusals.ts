import type { Logger } from 'pino'
import type { Device } from '../readers/reader.ts'

/**
 * `revoked_token`: the token of a reader before it was rotated or deleted. `wrong_user_name`: the token is right, the MQTT
 * user name is not the reader's id. `forbidden_topic`: the topic belongs to another reader. `unknown_topic`: the topic of the
 * external broker belongs to no reader. `malformed`: not JSON. `over_quota`: the organization stores too much.
 */
export type RefusalReason =
  | 'missing_token'
  | 'unknown_token'
  | 'revoked_token'
  | 'wrong_user_name'
  | 'forbidden_topic'
  | 'unknown_topic'
  | 'unknown_format'
  | 'malformed'
  | 'too_large'
  | 'over_limit'
  | 'over_quota'

export interface Refusal {
  transport: 'http' | 'mqtt'
  reason: RefusalReason
  /** The reader, if it is known. */
  device: Device | null
  address?: string | undefined
  topic?: string | undefined
  /** The limit that was exceeded. */
  limit?: string | undefined
}

interface Entry {
  latest: Refusal
  /** Refusals that are not logged yet. */
  count: number
}

const intervalMs = 60_000
/** The readers and addresses whose refusals have lines of their own at a time. */
export const maxEntries = 1000
const maxTopicLength = 256

/**
 * Logs and counts refused logins and messages of readers. The first refusal of a reader for a reason is logged at once. The
 * further ones are logged as one line per interval with their number, so that a misconfigured reader does not flood the log.
 * Refusals of unknown readers are combined by address or topic.
 */
export class ReaderRefusals {
  readonly #log: Logger
  readonly #onRefused: (transport: string, reason: RefusalReason, format: string) => void
  readonly #entries = new Map<string, Entry>()
  readonly #timer: NodeJS.Timeout

  /** `onRefused` gets the format that the reader is set to, empty if the reader is not known. */
  constructor(log: Logger, onRefused: (transport: string, reason: RefusalReason, format: string) => void) {
    this.#log = log
    this.#onRefused = onRefused
    this.#timer = setInterval(() => this.flush(), intervalMs)
    this.#timer.unref()
  }

  note(refusal: Refusal): void {
    const { transport, reason, device, address = '', topic = '' } = refusal
    this.#onRefused(transport, reason, device?.format ?? '')
    const source = device === null ? address || topic.slice(0, maxTopicLength) : device.readerId
    const key = `${transport} ${reason} ${source}`
    const known = this.#entries.get(key)
    if (known !== undefined) {
      known.latest = refusal
      known.count++
    } else if (this.#entries.size < maxEntries) {
      this.#entries.set(key, { latest: refusal, count: 0 })
      this.#write(refusal, 1)
    } else this.#noteOther({ transport, reason, device: null })
  }

  /** Logs what was not logged yet, at the end of an interval. */
  flush(): void {
    for (const [key, entry] of this.#entries) {
      if (entry.count === 0) this.#entries.delete(key)
      else this.#write(entry.latest, entry.count)
      entry.count = 0
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.flush()
  }

  /** When there are too many sources, the refusals of all others are combined by reason. */
  #noteOther(refusal: Refusal): void {
    const key = `${refusal.transport} ${refusal.reason}`
    const known = this.#entries.get(key)
    if (known === undefined) this.#entries.set(key, { latest: refusal, count: 1 })
    else known.count++
  }

  #write({ transport, reason, device, address, topic, limit }: Refusal, refusals: number): void {
    const reader = device === null ? {} : { orgId: device.orgId, readerId: device.readerId, reader: device.name }
    const shownTopic = topic?.slice(0, maxTopicLength)
    const line = { event: 'reader.refused', transport, reason, ...reader, address, topic: shownTopic, limit, refusals }
    this.#log.warn(line, 'reader refused')
  }
}
