/** The largest MQTT packet that is taken in at all; what is larger than a message may be, but smaller, is put aside. */
export const maxPacketBytes = 4 * 1024 * 1024

/**
 * Follows a stream of MQTT packets by their fixed headers alone and says when one announces more than there may be:
 * whoever holds the connection, signed in or not, must not fill our memory.
 */
export class PacketSizeGuard {
  /** The largest packet that may come next: the first one, CONNECT, may have a limit of its own. */
  #max: number
  /** Bytes of the present packet in total, and those still to come. */
  #size = 0
  #left = 0
  /** The announced length so far and the weight of its next seven bits; null before a header. */
  #length: { value: number; weight: number } | null = null

  constructor(maxFirstBytes = maxPacketBytes) {
    this.#max = maxFirstBytes
  }

  /** The size of the packet that has begun and is not complete; 0 between packets. */
  get unfinishedBytes(): number {
    return this.#left > 0 ? this.#size : 0
  }

  isTooLarge(chunk: Uint8Array): boolean {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, chunk.length - at)
        this.#left -= skipped
        at += skipped
        continue
      }
      const byte = chunk[at++]!
      if (this.#length === null) this.#length = { value: 0, weight: 1 }
      else {
        this.#length.value += (byte & 0x7f) * this.#length.weight
        this.#length.weight *= 128
        if (this.#length.value > this.#max) return true
        if (byte < 0x80) {
          this.#size = this.#left = this.#length.value
          this.#length = null
          this.#max = maxPacketBytes
        }
      }
    }
    return false
  }
}

const mebibyte = 1024 * 1024

/** Bounds the memory that packets of signed-in clients take while they are not complete. */
export class UnfinishedPackets {
  readonly #maxBytes: number
  readonly #maxBytesPerOrg: number
  readonly #held = new Map<object, { orgId: number; bytes: number }>()
  readonly #byOrg = new Map<number, number>()
  #total = 0

  constructor(maxBytes = 128 * mebibyte, maxBytesPerOrg = 16 * mebibyte) {
    this.#maxBytes = maxBytes
    this.#maxBytesPerOrg = maxBytesPerOrg
  }

  /** Notes the unfinished packet of a connection, 0 bytes when there is none; false when there is no memory left for it. */
  hold(connection: object, orgId: number, bytes: number): boolean {
    if ((this.#held.get(connection)?.bytes ?? 0) === bytes) return true
    this.release(connection)
    if (bytes === 0) return true
    const ofOrg = (this.#byOrg.get(orgId) ?? 0) + bytes
    if (ofOrg > this.#maxBytesPerOrg || this.#total + bytes > this.#maxBytes) return false
    this.#held.set(connection, { orgId, bytes })
    this.#byOrg.set(orgId, ofOrg)
    this.#total += bytes
    return true
  }

  release(connection: object): void {
    const held = this.#held.get(connection)
    if (held === undefined) return
    const { orgId, bytes } = held
    const ofOrg = this.#byOrg.get(orgId)! - bytes
    if (ofOrg === 0) this.#byOrg.delete(orgId)
    else this.#byOrg.set(orgId, ofOrg)
    this.#held.delete(connection)
    this.#total -= bytes
  }
}
