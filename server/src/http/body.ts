import type { IncomingMessage } from 'node:http'
import { type FieldProblem, apiError, throwIfAny } from '../kernel/errors.ts'
import { type Json, parseJson } from '../kernel/json.ts'
import type { RequestContext } from './request-context.ts'
import type { AnyRoute, Body, HandlerContext } from './route.ts'
import { type Infer, type Shape, parseObject } from './validation/schema.ts'

const mebibyte = 1024 * 1024
const maxDepth = 64

/** Requests with `Expect: 100-continue`, whose client sends the body once this is called. */
export const continuations = new WeakMap<IncomingMessage, () => void>()

/**
 * The whole body, or null when it is larger than a body may be. What is too much is read to its end and thrown away, so
 * that the connection stays usable; the time a request may take bounds it. A client that waits for 100 Continue is not
 * asked for a body that is too large.
 */
export function readBytes(request: IncomingMessage, maxMebibytes = 1): Promise<Buffer | null> {
  const maxBytes = maxMebibytes * mebibyte
  const sendContinue = continuations.get(request)
  if (sendContinue !== undefined) {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(null)
    sendContinue()
  }
  return new Promise((resolve, fail) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else chunks.length = 0
    })
    request.on('end', () => resolve(size > maxBytes ? null : chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    const cutShort = (): void => {
      if (!request.complete) fail(apiError.badRequest('The request body did not arrive whole'))
    }
    request.on('error', cutShort)
    request.on('close', cutShort)
    // Who hung up while waiting for a turn has closed already, and says so no more.
    if (request.destroyed) cutShort()
  })
}

const wrongType = 'Request body could not be decoded as the expected type'

const parseFailures = {
  syntax: 'Request body is not valid JSON',
  depth: `Request body is nested deeper than ${maxDepth} levels`,
  'duplicate key': 'Request body holds a key twice in one object',
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

/** The JSON object that the body is, before any of its fields is checked. */
function decodeObject(bytes: Buffer | null, body: Body<Shape>): { [key: string]: Json } {
  const value = parseBody(bytes, body)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw apiError.badRequest(wrongType)
  return value
}

/** The body as its row declares it, or the contract's refusal. */
function checkBody<S extends Shape>(value: { [key: string]: Json }, body: Body<S>): Infer<S> {
  const problems: FieldProblem[] = []
  const result = parseObject(body.shape, value, '', { problems, aborted: false })
  throwIfAny(problems)
  return result as Infer<S>
}

/** The bytes of the body, null when there are too many. */
export async function readBody(context: RequestContext, { maxMebibytes }: Body<Shape>): Promise<Buffer | null> {
  const bytes = await readBytes(context.request, maxMebibytes)
  if (!context.request.complete) closeAfter(context)
  return bytes
}

/** A path that leads nowhere is reported before a bad body, but only a bad body costs the extra query. */
export async function decodeFor(
  route: AnyRoute,
  call: HandlerContext<never, never, never>,
  bytes: Buffer | null,
): Promise<unknown> {
  let value: ReturnType<typeof decodeObject> | undefined
  try {
    value = decodeObject(bytes, route.body!)
    return checkBody(value, route.body!)
  } catch (error) {
    await route.ensureExists?.({ ...call, body: value })
    throw error
  }
}

/** A body too large even to be discarded ends the connection once its error is sent. */
function closeAfter(context: RequestContext): void {
  context.response.shouldKeepAlive = false
  context.response.once('finish', () => context.request.destroy())
}
