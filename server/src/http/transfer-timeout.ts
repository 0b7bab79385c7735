import { apiError } from '../kernel/errors.ts'

/** The lowest average speed at which a client may read a download or send an upload. */
export const minBytesPerSecond = 64 * 1024

const slow = `The client is slower than ${minBytesPerSecond / 1024} KiB a second`
const maxTimerMs = 3_600_000

/**
 * How long the server waits for the client of one download or upload, in all: a grace period, and a second for each 64
 * KiB that were transferred. A slower client would hold a slot, and an export a snapshot of the database, that others
 * wait for. The time that the server itself takes does not count.
 */
export class TransferTimeout {
  readonly #onEnd: () => void
  #remainingMs: number

  /** `onEnd` is called when the time is used up. */
  constructor(graceMs: number, onEnd: () => void) {
    this.#remainingMs = graceMs
    this.#onEnd = onEnd
  }

  addTransferred(bytes: number): void {
    this.#remainingMs += (bytes / minBytesPerSecond) * 1000
  }

  /** Waits for the client; throws 400 when the time is used up. */
  async wait<Result>(progress: Promise<Result>): Promise<Result> {
    const startedAt = performance.now()
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_resolve, reject) => {
      const end = (): void => {
        this.#onEnd()
        reject(apiError.badRequest(slow))
      }
      timer = setTimeout(end, Math.min(this.#remainingMs, maxTimerMs)).unref()
    })
    try {
      return await Promise.race([progress, timeout])
    } finally {
      clearTimeout(timer)
      this.#remainingMs -= performance.now() - startedAt
    }
  }

  /** The chunks that a client sends. */
  async *follow(chunks: AsyncIterableIterator<Buffer, undefined>): AsyncGenerator<Buffer> {
    let isWaiting = false
    try {
      for (;;) {
        isWaiting = true
        const { done, value } = await this.wait(chunks.next())
        isWaiting = false
        if (done === true) return
        this.addTransferred(value.length)
        yield value
      }
    } finally {
      // An iterator that waits for a chunk could not return before the next chunk.
      if (!isWaiting) await chunks.return?.()
    }
  }
}
