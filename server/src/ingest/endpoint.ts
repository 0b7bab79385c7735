import type { FairQueue } from '../admission/fair-queue.ts'
import { bearerToken } from '../http/bearer.ts'
import { readBytes } from '../http/body.ts'
import type { PlainPage, PlainRequest } from '../http/dispatch.ts'
import { refuse } from '../kernel/errors.ts'
import type { Device } from '../readers/reader.ts'
import { BackpressureError } from './batch-writer.ts'
import type { Devices } from './devices.ts'
import type { Intake } from './intake.ts'

/**
 * `POST /ingest/v1/reads` with the reader's token, in the header or, for readers that can only be given an address, as
 * the last part of the path. Any media type: readers are not always right about theirs. Answers once all is durable.
 */
export function ingestEndpoints(devices: Devices, intake: Intake, queue: FairQueue): PlainPage[] {
  const take = async (request: PlainRequest, token: string) => {
    const device = await devices.byToken(token)
    if (device === null) throw refuse.unauthorized('Invalid reader token')
    await queue.acquire(device.orgId, 1, () => request.message.destroyed)
    try {
      return await takeFrom(device, request)
    } finally {
      queue.release(device.orgId)
    }
  }
  const takeFrom = async (device: Device, request: PlainRequest) => {
    const bytes = await readBytes(request.message)
    if (bytes === null) throw refuse.badRequest('Request body is larger than 1 MiB')
    const taken = await intake.take(device, bytes, null).catch((error: unknown) => {
      throw error instanceof BackpressureError ? refuse.busy() : error
    })
    if (taken === null) throw refuse.badRequest('The message is in no format that readers are known to send')
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
