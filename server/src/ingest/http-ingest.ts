import type { FairQueue } from '../admission/fair-queue.ts'
import { bearerToken } from '../http/bearer.ts'
import { readBytes } from '../http/body.ts'
import type { RawRoute, RawRequest } from '../http/raw-route.ts'
import { apiError } from '../kernel/errors.ts'
import type { Device } from '../readers/reader.ts'
import { BackpressureError } from './batch-writer.ts'
import type { ReaderCache } from './reader-cache.ts'
import type { ReadIngestor } from './read-ingestor.ts'

/**
 * `POST /ingest/v1/reads` with the reader's token in the header or, for readers that accept only a URL, as the last path
 * segment. Any media type is accepted, because readers often send a wrong one. Responds when all reads are durable.
 */
export function ingestRoutes(readers: ReaderCache, ingestor: ReadIngestor, queue: FairQueue): RawRoute[] {
  const authenticateAndIngest = async (request: RawRequest, token: string) => {
    const device = await readers.byToken(token)
    if (device === null) throw apiError.unauthorized('Invalid reader token')
    await queue.acquire(device.orgId, 1, () => request.message.destroyed)
    try {
      return await ingest(device, request)
    } finally {
      queue.release(device.orgId)
    }
  }
  const ingest = async (device: Device, request: RawRequest) => {
    const bytes = await readBytes(request.message)
    if (bytes === null) throw apiError.badRequest('Request body is larger than 1 MiB')
    const receipt = await ingestor.process(device, bytes, null).catch((error: unknown) => {
      throw error instanceof BackpressureError ? apiError.busy() : error
    })
    if (receipt === null) throw apiError.badRequest('The message is not in a supported reader format')
    return { status: 202, type: 'application/json', text: JSON.stringify({ data: receipt }) }
  }
  return [
    {
      method: 'POST',
      path: '/ingest/v1/reads',
      operation: 'ingest.reads',
      render: (request) => authenticateAndIngest(request, bearerToken(request.message)),
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
