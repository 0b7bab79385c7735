import type { IncomingMessage } from 'node:http'

/** How long the body of a request may take to arrive. */
export interface BodyTimeouts {
  requestMs: number
  /** How long an upload may take in total, and how long its client may send nothing while the server waits for it. */
  uploadMs: number
  uploadStalledMs: number
}

/** An upload of 64 MiB needs 0.5 Mbit/s. */
export const defaultBodyTimeouts: BodyTimeouts = { requestMs: 60_000, uploadMs: 1_200_000, uploadStalledMs: 30_000 }

const uploads = new WeakSet<IncomingMessage>()

/** Applies the limits of uploads to a request. */
export const allowUpload = (request: IncomingMessage): unknown => uploads.add(request)

interface Progress {
  startedAtMs: number
  receivedBytes: number
  receivedAtMs: number
}

/** The requests whose bodies have not arrived completely. */
export class IncomingBodies {
  readonly #timeouts: BodyTimeouts
  readonly #incoming = new Map<IncomingMessage, Progress>()

  constructor(timeouts: BodyTimeouts) {
    this.#timeouts = timeouts
  }

  add(request: IncomingMessage): void {
    const { headers, socket } = request
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
    const nowMs = performance.now()
    this.#incoming.set(request, { startedAtMs: nowMs, receivedBytes: socket.bytesRead, receivedAtMs: nowMs })
    request.once('close', () => this.#incoming.delete(request))
  }

  /** Removes and returns the requests whose time is over. */
  takeExpired(): IncomingMessage[] {
    const nowMs = performance.now()
    const expired: IncomingMessage[] = []
    for (const [request, progress] of this.#incoming) {
      if (request.complete) this.#incoming.delete(request)
      else if (this.#isExpired(request, progress, nowMs)) {
        this.#incoming.delete(request)
        expired.push(request)
      }
    }
    return expired
  }

  #isExpired(request: IncomingMessage, progress: Progress, nowMs: number): boolean {
    const { requestMs, uploadMs, uploadStalledMs } = this.#timeouts
    const tookMs = nowMs - progress.startedAtMs
    if (!uploads.has(request)) return tookMs > requestMs
    const { bytesRead } = request.socket
    // While received bytes wait to be processed, the server is slower than the client.
    if (bytesRead > progress.receivedBytes || request.readableLength > 0) {
      progress.receivedBytes = bytesRead
      progress.receivedAtMs = nowMs
    }
    return tookMs > uploadMs || nowMs - progress.receivedAtMs > uploadStalledMs
  }
}
