/** The largest accepted MQTT packet. A packet below this limit whose message is too large is discarded. */
export const maxPacketBytes = 4 * 1024 * 1024

/**
 * Parses only the fixed headers of a stream of MQTT packets and detects packets that announce too many bytes, so that no
 * client, authenticated or not, can exhaust the memory of the process.
 */
export class PacketSizeGuard {
  /** The maximum size of the next packet. The first one, CONNECT, has its own limit. */
  #max: number
  /** The total and the remaining bytes of the current packet. */
  #size = 0
  #remaining = 0
  /** The announced length so far and the weight of its next seven bits; null before a header. */
  #length: { value: number; weight: number } | null = null

  constructor(maxFirstBytes = maxPacketBytes) {
    this.#max = maxFirstBytes
  }

  /** The size of the current incomplete packet; 0 between packets. */
  get unfinishedBytes(): number {
    return this.#remaining > 0 ? this.#size : 0
  }

  isTooLarge(chunk: Uint8Array): boolean {
    for (let at = 0; at < chunk.length;) {
      if (this.#remaining > 0) {
        const skipped = Math.min(this.#remaining, chunk.length - at)
        this.#remaining -= skipped
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
          this.#size = this.#remaining = this.#length.value
          this.#length = null
          this.#max = maxPacketBytes
        }
      }
    }
    return false
  }
}
