import { booleanParam, integerParam, limit, offset } from '../../http/validation/parameters.ts'
import { type AnyRoute, created, noContent, ok, route } from '../../http/route.ts'
import { type Component, pageOf, envelope } from '../../http/openapi/response-schema.ts'
import type { RecordDeps } from '../../records/record.ts'
import { changeReader, createReader, getReader, removeReader, rotateReaderToken } from '../../readers/commands.ts'
import {
  type NewReader,
  type Reader,
  maxOverlapSeconds,
  silentAfterMinutes,
  silentSince,
} from '../../readers/reader.ts'
import { listReaders } from '../../readers/readers.sql.ts'
import { formatNullable } from './fields.ts'
import {
  type Connection,
  ConnectionOut,
  NewReaderOut,
  ReaderOut,
  createShape,
  patchShape,
  pointsOf,
  presentReader,
  smoothingIn,
} from './reader-wire.ts'

export interface ReaderDeps extends RecordDeps {
  /** Notifies every process that the reader was changed. */
  publishAndWait: (readerId: number) => Promise<void>
  /** The URLs and the topic to which the reader sends. */
  addresses: (reader: Reader) => Connection
}

export const readerComponents = [ReaderOut, NewReaderOut, ConnectionOut] as Component[]

/** Reader management, for sessions only. Not part of the public OpenAPI documents. */
export function readerRoutes(deps: ReaderDeps): AnyRoute[] {
  const reading = { group: 'Readers', access: 'session', scopes: ['tracking:read'] } as const
  const writing = { group: 'Readers', access: 'session', scopes: ['locations:write'] } as const
  const success = { status: 200, description: 'The reader', schema: envelope(ReaderOut) } as const
  const ensureExists = async (context: {
    principal: { orgId: number }
    params: { reader_id: number }
  }): Promise<void> => {
    await getReader(deps, context.principal.orgId, context.params.reader_id)
  }
  const presentNew = ({ reader, token, previousTokenExpiresAt }: NewReader) => {
    const { ingest_url, mqtt } = deps.addresses(reader)
    const previous = { previous_token_expires_at: formatNullable(previousTokenExpiresAt) }
    return { ...presentReader(reader), token, ...previous, ingest_url, mqtt: { ...mqtt, password: token } }
  }

  return [
    route({
      ...reading,
      id: 'readers.list',
      method: 'GET',
      path: '/readers',
      summary: 'List readers',
      query: {
        parameters: {
          limit,
          offset,
          is_silent: {
            ...booleanParam,
            description: `Whether the reader sent no message in the last ${silentAfterMinutes} minutes.`,
          },
        },
      },
      success: { status: 200, description: 'A page of readers', schema: pageOf(ReaderOut) },
      async handle({ principal, query: { is_silent: isSilent, ...request } }) {
        const silence = isSilent === undefined ? undefined : { isSilent, since: silentSince(deps.clock.millis()) }
        const page = await listReaders(deps.db.read, principal.orgId, request, silence)
        return ok({ data: page.rows.map(presentReader), ...request, total_count: page.total })
      },
    }),
    route({
      ...writing,
      id: 'readers.create',
      method: 'POST',
      path: '/readers',
      summary: 'Create a reader; its token is shown only once',
      body: { mediaType: 'application/json', name: 'ReaderCreate', shape: createShape, example: {} },
      success: { status: 201, description: 'The reader', schema: envelope(NewReaderOut) },
      errorStatuses: [409],
      async handle({ principal, body }) {
        const { name, format = 'auto', clock = 'reader', scan_points = [], topic_key: key } = body
        const topic = key === undefined ? {} : { topicKey: key }
        const draft = { name, format, clock, ...smoothingIn(body), scanPoints: pointsOf(scan_points), ...topic }
        const newReader = await createReader(deps, principal.orgId, draft)
        return created(`/api/v1/readers/${newReader.reader.id}`, { data: presentNew(newReader) })
      },
    }),
    route({
      ...reading,
      id: 'readers.get',
      method: 'GET',
      path: '/readers/{reader_id}',
      ids: ['reader_id'],
      summary: 'Read a reader',
      success,
      async handle({ principal, params }) {
        return ok({ data: presentReader(await getReader(deps, principal.orgId, params.reader_id)) })
      },
    }),
    route({
      ...writing,
      id: 'readers.connection',
      method: 'GET',
      path: '/readers/{reader_id}/connection',
      ids: ['reader_id'],
      summary: 'Get the connection settings of a reader, without its token',
      success: { status: 200, description: 'The addresses', schema: envelope(ConnectionOut) },
      async handle({ principal, params }) {
        const data: Connection = deps.addresses(await getReader(deps, principal.orgId, params.reader_id))
        return ok({ data })
      },
    }),
    route({
      ...writing,
      id: 'readers.patch',
      method: 'PATCH',
      path: '/readers/{reader_id}',
      ids: ['reader_id'],
      ensureExists,
      summary: 'Update a reader; scan points and smoothing are replaced as a whole',
      body: { mediaType: 'application/merge-patch+json', name: 'ReaderPatch', shape: patchShape, example: {} },
      success,
      async handle({ principal, params, body }) {
        const { scan_points: points, smoothing: _smoothing, ...fields } = body
        const scanPoints = points === undefined ? {} : { scanPoints: pointsOf(points) }
        const change = { ...fields, ...smoothingIn(body), ...scanPoints }
        const reader = await changeReader(deps, principal.orgId, params.reader_id, change)
        await deps.publishAndWait(params.reader_id)
        return ok({ data: presentReader(reader) })
      },
    }),
    route({
      ...writing,
      id: 'readers.rotate-token',
      method: 'POST',
      path: '/readers/{reader_id}/token',
      ids: ['reader_id'],
      summary: 'Replace the token of a reader; the new one is shown only once',
      description:
        'Without an overlap, the old token stops working at once, and the MQTT connection of the reader is closed.',
      query: {
        parameters: {
          overlap_seconds: {
            ...integerParam(0, maxOverlapSeconds, 0),
            description: 'How long the old token stays valid. A token that was replaced earlier always ends at once.',
          },
        },
      },
      success: { status: 200, description: 'The reader with its new token', schema: envelope(NewReaderOut) },
      async handle({ principal, params, query }) {
        const newReader = await rotateReaderToken(deps, principal.orgId, params.reader_id, query.overlap_seconds)
        await deps.publishAndWait(params.reader_id)
        return ok({ data: presentNew(newReader) })
      },
    }),
    route({
      ...writing,
      id: 'readers.delete',
      method: 'DELETE',
      path: '/readers/{reader_id}',
      ids: ['reader_id'],
      summary: 'Delete a reader; its token stops working',
      success: { status: 204, description: 'Deleted' },
      async handle({ principal, params }) {
        await removeReader(deps, principal.orgId, params.reader_id)
        await deps.publishAndWait(params.reader_id)
        return noContent
      },
    }),
  ]
}
