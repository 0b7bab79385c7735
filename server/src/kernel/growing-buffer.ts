const minCapacity = 256

/** Collects chunks in one buffer. Kept as they arrive, chunks of one byte would take several hundred bytes each. */
export class GrowingBuffer {
  readonly #maxBytes: number
  #bytes: Buffer = Buffer.alloc(0)
  #size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get size(): number {
    return this.#size
  }

  /** The memory that the buffer takes. */
  get capacity(): number {
    return this.#bytes.length
  }

  /** Copies the chunk, except the first one. The caller ensures that the limit is not exceeded. */
  append(chunk: Buffer): void {
    const size = this.#size + chunk.length
    if (this.#size === 0) this.#bytes = chunk
    else {
      if (size > this.#bytes.length) this.#grow(size)
      chunk.copy(this.#bytes, this.#size)
    }
    this.#size = size
  }

  /** Returns the collected bytes and starts anew. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#size)
    this.#bytes = Buffer.alloc(0)
    this.#size = 0
    return bytes
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(size, Math.min(Math.max(2 * size, minCapacity), this.#maxBytes)))
    this.#bytes.copy(larger, 0, 0, this.#size)
    this.#bytes = larger
  }
}
