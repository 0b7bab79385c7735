/** The largest MQTT packet that is taken in at all; what is larger than a message may be, but smaller, is put aside. */
export const maxPacketBytes = 4 * 1024 * 1024

/**
 * Follows a stream of MQTT packets by their fixed headers alone and says when one announces more than there may be:
 * whoever holds the connection, signed in or not, must not fill our memory.
 */
export class PacketSizes {
  /** Bytes of the present packet still to come. */
  #left = 0
  /** The announced length so far and the weight of its next seven bits; null before a header. */
  #length: { value: number; weight: number } | null = null

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
        if (this.#length.value > maxPacketBytes) return true
        if (byte < 0x80) {
          this.#left = this.#length.value
          this.#length = null
        }
      }
    }
    return false
  }
}
