import type { ServerResponse } from 'node:http'
import type { RequestContext } from './request-context.ts'
import { disconnectIfSlow, flushTimeouts, headersOf, lingerMs } from './response.ts'
import type { Download, EventStream } from './route.ts'
import { TransferTimeout } from './transfer-timeout.ts'

/** How long a download may take, and how long the server waits for a client that reads nothing of it. */
export const downloadLimits = { maxMs: 3_600_000, graceMs: 30_000 }

/** A stream that buffers more than this has a client that reads too slowly. */
const maxBufferedBytes = 64 * 1024

/**
 * Keeps the response open for server-sent events. The head is sent with the first event, so that a stream that cannot be
 * opened is answered with an ordinary error. No stream is opened for a client that has already disconnected, because its
 * 'close' event would never be emitted again.
 */
export function sendEventStream(context: RequestContext, open: (stream: EventStream) => void): void {
  const { response } = context
  if (response.destroyed) return
  const head = [...headersOf(context), ...['Content-Type', 'text/event-stream', 'X-Accel-Buffering', 'no']]
  if (context.method === 'HEAD') {
    response.writeHead(200, head).end()
    return
  }
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  open({
    closed: closed.signal,
    write(text) {
      if (closed.signal.aborted) return true
      if (!response.headersSent) response.writeHead(200, head)
      response.write(text)
      return response.writableLength <= maxBufferedBytes
    },
    drained: () => (response.writableNeedDrain ? drained(response) : Promise.resolve()),
    end() {
      if (closed.signal.aborted) return
      closed.abort()
      response.end()
      const timer = setTimeout(() => response.destroy(), lingerMs)
      response.once('close', () => clearTimeout(timer))
    },
  })
}

/**
 * Streams a file while it is generated, no faster than the client reads it, so that memory use does not grow with its size.
 * A failure before the first byte is answered with an ordinary error. A later failure closes the connection, so that the
 * client does not mistake a partial file for a complete one.
 */
export async function sendDownload(
  context: RequestContext,
  { type, fileName, chunks, maxMs = downloadLimits.maxMs }: Download,
  graceMs = downloadLimits.graceMs,
): Promise<void> {
  const { response } = context
  const timer = setTimeout(() => response.destroy(), maxMs).unref()
  const transferTimeout = new TransferTimeout(graceMs, () => response.destroy())
  const iterator = chunks[Symbol.asyncIterator]()
  try {
    let chunk = await iterator.next()
    response.writeHead(200, [
      ...headersOf(context),
      ...['Content-Type', type],
      ...(fileName === undefined ? [] : ['Content-Disposition', `attachment; filename="${fileName}"`]),
    ])
    while (context.method !== 'HEAD' && !chunk.done && !response.destroyed) {
      const bytes = Buffer.from(chunk.value)
      if (!response.write(bytes)) await transferTimeout.wait(drained(response))
      transferTimeout.addTransferred(bytes.length)
      chunk = await iterator.next()
    }
    response.end()
    disconnectIfSlow(context)
  } catch (error) {
    if (response.headersSent) response.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    await iterator.return?.()
  }
}

/** Resolves when the buffer is drained or the connection is closed. A client that stops reading is disconnected. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const { socket } = response
    socket?.setTimeout(flushTimeouts.stalledMs)
    const done = (): void => {
      socket?.setTimeout(0)
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
    if (response.destroyed) done()
  })
}
