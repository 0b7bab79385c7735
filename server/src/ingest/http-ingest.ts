import type { FairQueue } from '../admission/fair-queue.ts'
import { bearerToken } from '../http/bearer.ts'
import { readBytes } from '../http/body.ts'
import type { RawRoute, RawRequest } from '../http/dispatcher.ts'
import { apiError } from '../kernel/errors.ts'
import type { Device } from '../readers/reader.ts'
import { BackpressureError } from './batch-writer.ts'
import type { ReaderCache } from './reader-cache.ts'
import type { ReadIngestor } from './read-ingestor.ts'

/**
 * `POST /ingest/v1/reads` with the reader's token, in the header or, for readers that can only be given an address, as
 * the last part of the path. Any media type: readers are not always right about theirs. Answers once all is durable.
 */
export function ingestRoutes(devices: ReaderCache, intake: ReadIngestor, queue: FairQueue): RawRoute[] {
  const take = async (request: RawRequest, token: string) => {
    const device = await devices.byToken(token)
    if (device === null) throw apiError.unauthorized('Invalid reader token')
    await queue.acquire(device.orgId, 1, () => request.message.destroyed)
    try {
      return await takeFrom(device, request)
    } finally {
      queue.release(device.orgId)
    }
  }
  const takeFrom = async (device: Device, request: RawRequest) => {
    const bytes = await readBytes(request.message)
    if (bytes === null) throw apiError.badRequest('Request body is larger than 1 MiB')
    const taken = await intake.process(device, bytes, null).catch((error: unknown) => {
      throw error instanceof BackpressureError ? apiError.busy() : error
    })
    if (taken === null) throw apiError.badRequest('The message is in no format that readers are known to send')
    return { status: 202, type: 'application/json', text: JSON.stringify({ data: taken }) }
  }
  return [
    {
      method: 'POST',
      path: '/ingest/v1/reads',
      operation: 'ingest.reads',
      render: (request) => take(request, bearerToken(request.message)),
    },
    {
      method: 'POST',
      path: '/ingest/v1/reads/{token}',
      operation: 'ingest.reads',
      isPathSecret: true,
      render: (request) => take(request, request.segments[0] ?? ''),
    },
  ]
}
