import type { ByteBudget } from '../admission/byte-budget.ts'
import type { FairQueue } from '../admission/fair-queue.ts'
import { bearerToken, clientAddress } from '../http/request-headers.ts'
import { readBytes } from '../http/body.ts'
import { maxAuthenticationAgeMs } from '../http/principal.ts'
import type { RawReply, RawRequest, RawRoute } from '../http/route.ts'
import { ApiError, apiError } from '../kernel/errors.ts'
import { isQuotaReached } from '../kernel/quota.ts'
import type { Device } from '../readers/reader.ts'
import { BackpressureError } from './batch-writer.ts'
import { isMalformed } from './decoders/index.ts'
import type { ReaderCache } from './reader-cache.ts'
import type { ReaderRefusals, RefusalReason } from './reader-refusals.ts'
import type { ReadIngestor } from './read-ingestor.ts'

interface IngestDeps {
  readers: ReaderCache
  ingestor: ReadIngestor
  queue: FairQueue
  /** The memory for the bodies of readers' messages, per organization. */
  bodyBudget: ByteBudget
  refusals: ReaderRefusals
  trustProxy: boolean
}

/** The bytes of a message that cost one unit of the fair queue: about ten reads. */
const bytesPerCost = 1024

const costOf = (bytes: Buffer): number => 1 + Math.floor(bytes.length / bytesPerCost)

/**
 * `POST /ingest/v1/reads` with the reader's token in the header or, for readers that accept only a URL, as the last path
 * segment. Any media type is accepted, because readers often send a wrong one. Responds when all reads are durable.
 */
export function ingestRoutes({ readers, ingestor, queue, bodyBudget, refusals, trustProxy }: IngestDeps): RawRoute[] {
  const refused = (request: RawRequest, reason: RefusalReason, device: Device | null, error: ApiError): ApiError => {
    refusals.note({ transport: 'http', reason, device, address: clientAddress(request.message, trustProxy) })
    return error
  }

  const tokenOf = (request: RawRequest): string => {
    try {
      return bearerToken(request.message)
    } catch (error) {
      throw refused(request, 'missing_token', null, error as ApiError)
    }
  }

  async function authenticate(request: RawRequest, token: string): Promise<Device> {
    const device = await readers.byToken(token, clientAddress(request.message, trustProxy))
    if (device !== null) return device
    const former = readers.formerByToken(token)
    const reason = former === null ? 'unknown_token' : 'revoked_token'
    throw refused(request, reason, former, apiError.unauthorized('Invalid reader token'))
  }

  async function authenticateAndIngest(request: RawRequest, token: string): Promise<RawReply> {
    const device = await authenticate(request, token)
    const authenticatedAtMs = performance.now()
    const bytes = await readMessage(device, request)
    // A request whose body was read to its end counts as destroyed, so its connection is checked.
    await queue
      .acquire(device.orgId, costOf(bytes), () => request.message.socket.destroyed)
      .catch((error: unknown) => {
        throw refused(request, 'over_limit', device, error as ApiError)
      })
    try {
      const hasWaited = performance.now() - authenticatedAtMs > maxAuthenticationAgeMs
      return await ingest(hasWaited ? await authenticate(request, token) : device, request, bytes)
    } finally {
      queue.release(device.orgId)
    }
  }

  /** Reads the body before the message takes a slot, so that a reader that sends slowly holds none. */
  async function readMessage(device: Device, request: RawRequest): Promise<Buffer> {
    const memory = { budget: bodyBudget, tenant: device.orgId }
    const bytes = await readBytes(request.message, memory).catch((error: unknown) => {
      const isOverLimit = error instanceof ApiError && error.kind === 'rate_limited'
      throw isOverLimit ? refused(request, 'over_limit', device, error) : error
    })
    if (bytes !== null) return bytes
    throw refused(request, 'too_large', device, apiError.badRequest('Request body is larger than 1 MiB'))
  }

  async function ingest(device: Device, request: RawRequest, bytes: Buffer): Promise<RawReply> {
    const receipt = await ingestor.process(device, bytes, null).catch((error: unknown) => {
      if (isQuotaReached(error)) throw refused(request, 'over_quota', device, error)
      throw error instanceof BackpressureError ? refused(request, 'over_limit', device, apiError.busy()) : error
    })
    if (receipt === null) {
      const reason = isMalformed(bytes) ? 'malformed' : 'unknown_format'
      throw refused(request, reason, device, apiError.badRequest('The message is not in a supported reader format'))
    }
    const headers = { 'Cache-Control': 'private, no-store' }
    return { status: 202, type: 'application/json', headers, text: JSON.stringify({ data: receipt }) }
  }

  return [
    {
      method: 'POST',
      path: '/ingest/v1/reads',
      operation: 'ingest.reads',
      render: (request) => authenticateAndIngest(request, tokenOf(request)),
    },
    {
      method: 'POST',
      path: '/ingest/v1/reads/{token}',
      operation: 'ingest.reads',
      isPathSecret: true,
      render: (request) => authenticateAndIngest(request, request.segments[0] ?? ''),
    },
  ]
}
