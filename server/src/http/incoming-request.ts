import { IncomingMessage } from 'node:http'
import { GrowingBuffer } from '../kernel/growing-buffer.ts'

/** The client is paused when at least this much of its body was received and not read. */
const maxUnreadBytes = 16 * 1024

/** A client that sends more chunks than this is disconnected while they have fewer than `minChunkBytes` on average. */
export const maxSmallChunks = 5_000
const minChunkBytes = 16

/**
 * A request that merges the chunks of its body while nothing reads it. Node keeps each chunk, of which there may be one for
 * each byte, and its limit counts only their bytes.
 */
export class IncomingRequest extends IncomingMessage {
  /** What arrived after the chunk that waits in the stream. */
  readonly #unread = new GrowingBuffer(Infinity)
  #chunks = 0
  #bytes = 0

  override push(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.#deliver()
      return super.push(null)
    }
    if (this.destroyed) return false
    this.#chunks++
    this.#bytes += chunk.length
    if (this.#chunks > maxSmallChunks && this.#bytes < this.#chunks * minChunkBytes) {
      this.destroy()
      return false
    }
    if (this.#unread.size === 0 && (this.readableFlowing === true || this.readableLength === 0))
      return super.push(chunk)
    this.#unread.append(chunk)
    return this.#unread.size < maxUnreadBytes
  }

  override read(size?: number): unknown {
    // With 0, Node only asks for more data.
    if (size !== 0) this.#deliver()
    return super.read(size)
  }

  #deliver(): void {
    if (this.#unread.size > 0) super.push(this.#unread.take())
  }
}
