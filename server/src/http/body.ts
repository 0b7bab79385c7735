import type { IncomingMessage } from 'node:http'
import type { ByteBudget } from '../admission/byte-budget.ts'
import type { TenantKey } from '../admission/fair-queue.ts'
import { type FieldProblem, apiError, throwIfAny } from '../kernel/errors.ts'
import { GrowingBuffer } from '../kernel/growing-buffer.ts'
import { type Json, parseJson } from '../kernel/json.ts'
import { TransferTimeout } from './transfer-timeout.ts'
import type { RequestContext } from './request-context.ts'
import type { AnyRoute, Body, HandlerContext } from './route.ts'
import { type Infer, type Shape, parseObject } from './validation/schema.ts'

const mebibyte = 1024 * 1024
const maxDepth = 64

/** Requests with `Expect: 100-continue`, each with the function that tells the client to send the body. */
export const continuations = new WeakMap<IncomingMessage, () => void>()

/** Bytes of a body that count towards no budget. Small requests are therefore served while large ones use up the memory. */
export const uncountedBodyBytes = 16 * 1024
/** The memory for bodies in each process: those of all organizations, and those of anonymous requests. */
export const bodyMemory = { maxBytes: 128 * mebibyte, maxBytesPerTenant: 16 * mebibyte }
export const anonymousBodyMemory = { maxBytes: 16 * mebibyte, maxBytesPerTenant: 2 * mebibyte }

/** Where the memory for a body is counted. The request holds it until the dispatcher has handled the request. */
export interface BodyMemory {
  readonly budget: ByteBudget
  readonly tenant: TenantKey
}

/**
 * Returns the whole body, or null when it exceeds the limit; throws 429 when the budget has no memory for it. A rejected
 * body is read to its end and discarded, so that the connection stays usable; the request timeout bounds how long that
 * takes. A client that waits for 100 Continue does not receive it when Content-Length exceeds the limit.
 */
export function readBytes(
  request: IncomingMessage,
  { budget, tenant }: BodyMemory,
  maxMebibytes = 1,
): Promise<Buffer | null> {
  const maxBytes = maxMebibytes * mebibyte
  const sendContinue = continuations.get(request)
  if (sendContinue !== undefined) {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(null)
    sendContinue()
  }
  return new Promise((resolve, reject) => {
    const body = new GrowingBuffer(maxBytes)
    let size = 0
    let isRejected = false
    const discard = (): void => {
      body.take()
      budget.release(request)
    }
    request.on('data', (chunk: Buffer) => {
      if (isRejected) return
      size += chunk.length
      if (size > maxBytes) return discard()
      body.append(chunk)
      if (budget.hold(request, tenant, Math.max(body.capacity - uncountedBodyBytes, 0))) return
      isRejected = true
      discard()
      reject(apiError.busy())
    })
    request.on('end', () => resolve(size > maxBytes ? null : body.take()))
    const rejectIncomplete = (): void => {
      if (!request.complete) reject(apiError.badRequest('The request body is incomplete'))
    }
    request.on('error', rejectIncomplete)
    request.on('close', rejectIncomplete)
    // A client that disconnected while its request was queued has already emitted 'close'.
    if (request.destroyed) rejectIncomplete()
  })
}

/** How long the server waits for the client of an upload that sends nothing. */
export const uploadGraceMs = 10_000

/** A client may send each byte separately. The consumer of an upload gets larger chunks, which cost it less. */
const minChunkBytes = 16 * 1024

/** Uploads whose clients were too slow. */
const slowUploads = new WeakSet<IncomingMessage>()

/**
 * The body in chunks, as fast as they are consumed. When it exceeds the limit, or when the consumer stops early, the rest
 * has to be discarded with `discardBody`. A client that sends too slowly is disconnected after the response.
 */
export async function* readChunks(
  context: RequestContext,
  maxMebibytes: number,
  graceMs = uploadGraceMs,
): AsyncGenerator<Buffer> {
  const { request } = context
  const maxBytes = maxMebibytes * mebibyte
  const tooLarge = apiError.badRequest(`Request body is larger than ${maxMebibytes} MiB`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge
  continuations.get(request)?.()
  const transferTimeout = new TransferTimeout(graceMs, () => slowUploads.add(request))
  const received = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer, undefined>
  const merged = new GrowingBuffer(Infinity)
  let size = 0
  try {
    for await (const chunk of transferTimeout.follow(received)) {
      size += chunk.length
      if (size > maxBytes) break
      merged.append(chunk)
      if (merged.size >= minChunkBytes) yield merged.take()
    }
    if (size <= maxBytes && merged.size > 0) yield merged.take()
  } catch (error) {
    throw request.complete || slowUploads.has(request) ? error : apiError.badRequest('The request body is incomplete')
  }
  if (size > maxBytes) throw tooLarge
}

/** Reads the rest of the body, so that the connection stays usable. The request timeout bounds how long that takes. */
export async function discardBody(context: RequestContext): Promise<void> {
  const { request, response } = context
  if (slowUploads.has(request)) return closeAfter(context)
  if (continuations.has(request) && !response.shouldKeepAlive) return closeAfter(context)
  if (!request.readableEnded && !request.destroyed)
    await new Promise<void>((resolve) => {
      request
        .once('end', resolve)
        .once('close', resolve)
        .once('error', () => resolve())
      request.resume()
    })
  if (!request.complete) closeAfter(context)
}

const wrongType = 'Request body could not be decoded as the expected type'

const parseFailures = {
  syntax: 'Request body is not valid JSON',
  depth: `Request body is nested deeper than ${maxDepth} levels`,
  'duplicate key': 'Request body contains an object with a duplicate key',
} as const

function parseBody(bytes: Buffer | null, body: Body<Shape>): Json {
  if (bytes === null) throw apiError.badRequest(`Request body is larger than ${body.maxMebibytes ?? 1} MiB`)
  const outcome = parseJson(bytes, maxDepth, { uniqueKeys: true, exactNumbers: true })
  if (outcome.ok) {
    if (outcome.value === null && body.mediaType === 'application/merge-patch+json')
      throw apiError.badRequest('Request body must be a JSON object (RFC 7396)')
    return outcome.value
  }
  throw apiError.badRequest(parseFailures[outcome.reason])
}

/** Parses the body as a JSON object without validating its fields. */
function decodeObject(bytes: Buffer | null, body: Body<Shape>): { [key: string]: Json } {
  const value = parseBody(bytes, body)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw apiError.badRequest(wrongType)
  return value
}

/** Validates the body against the shape that its route declares. */
function checkBody<S extends Shape>(value: { [key: string]: Json }, body: Body<S>): Infer<S> {
  const problems: FieldProblem[] = []
  const result = parseObject(body.shape, value, '', { problems, aborted: false })
  throwIfAny(problems)
  return result as Infer<S>
}

/** Returns the bytes of the body, or null when it exceeds the route's limit. */
export async function readBody(
  context: RequestContext,
  { maxMebibytes }: Body<Shape>,
  memory: BodyMemory,
): Promise<Buffer | null> {
  const bytes = await readBytes(context.request, memory, maxMebibytes)
  if (!context.request.complete) closeAfter(context)
  return bytes
}

/** Reports a missing record before an invalid body. The query for the record runs only if the body is invalid. */
export async function decodeFor(
  route: AnyRoute,
  context: HandlerContext<never, never, never>,
  bytes: Buffer | null,
): Promise<unknown> {
  let value: ReturnType<typeof decodeObject> | undefined
  try {
    value = decodeObject(bytes, route.body!)
    return checkBody(value, route.body!)
  } catch (error) {
    await route.ensureExists?.({ ...context, body: value })
    throw error
  }
}

/** Closes the connection once the response is sent. Used when the body was not read to its end. */
function closeAfter(context: RequestContext): void {
  context.response.shouldKeepAlive = false
  context.response.once('finish', () => context.request.destroy())
}

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
