import { listOf, oneOf, record, reference, text } from '../../http/fields.ts'
import { limit, offset } from '../../http/query.ts'
import { type AnyRoute, created, noContent, ok, route } from '../../http/route.ts'
import { type Field, type Infer, nullable, optional, reject, rejectType } from '../../http/schema.ts'
import { type Component, type Wire, component, listOfAll, single } from '../../http/shape.ts'
import { formatMillis } from '../../kernel/instant.ts'
import type { Needs } from '../../records/record.ts'
import { changeReader, createReader, getReader, removeReader } from '../../readers/commands.ts'
import {
  type NewReader,
  type Reader,
  type ReaderDraft,
  type Smoothing,
  readerFormats,
  smoothingBounds,
} from '../../readers/reader.ts'
import { listReaders } from '../../readers/readers.sql.ts'
import { readerClocks } from '../../tracking/arrival.ts'
import { type UnknownTag, listUnknownTags } from '../../tracking/unknown-tags.sql.ts'
import { tagTypes } from '../../tags/tag.ts'
import { line, timestamp, whole, wire } from './fields.ts'

export interface ReaderNeeds extends Needs {
  /** Tells every process that a reader was changed. */
  announce: () => Promise<void>
  /** Where this installation takes reads. */
  addresses: (reader: Reader, token: string) => { ingest_url: string; mqtt: object | null }
}

const between = (min: number, max: number): Field<number> => ({
  schema: { type: 'integer', minimum: min, maximum: max },
  read(value, at, report) {
    if (typeof value !== 'number' || !Number.isInteger(value)) return rejectType(report, at, 'integer', value)
    if (value < min)
      return reject(report, { field: at, code: 'too_small', message: `${at} must be at least ${min}`, params: { min } })
    if (value > max)
      return reject(report, { field: at, code: 'too_large', message: `${at} must be at most ${max}`, params: { max } })
    return value
  },
})

const antenna = between(1, 65_535)

const smoothing = record({
  reads: between(...smoothingBounds.reads),
  seconds: between(...smoothingBounds.seconds),
  margin_db: optional(nullable(between(...smoothingBounds.marginDb))),
})

const scanPoints = listOf(record({ antenna, location_id: nullable(reference) }), { max: 256 })

const createShape = {
  name: text({ min: 1, max: 255 }),
  format: optional(oneOf(readerFormats)),
  clock: optional(oneOf(readerClocks)),
  smoothing: optional(nullable(smoothing)),
  scan_points: optional(scanPoints),
}

const patchShape = { ...createShape, name: optional(createShape.name) }

const readerShape = {
  id: reference,
  name: line,
  format: line,
  clock: line,
  created_at: timestamp,
  last_seen_at: nullable(timestamp),
  messages: whole,
  reads: whole,
  ignored: whole,
  warning: nullable(text({ max: 1024 })),
  smoothing: nullable(record({ reads: whole, seconds: whole, margin_db: nullable(whole) })),
  scan_points: listOf(record({ antenna, location_id: nullable(reference), location_external_key: nullable(line) })),
  unknown_antennas: listOf(record({ antenna, reads: whole })),
}

const presentSmoothing = ({ reads, seconds, marginDb }: Smoothing) => ({ reads, seconds, margin_db: marginDb })

/** Absent stays absent, null is off. */
const smoothingIn = (body: Infer<{ smoothing: typeof createShape.smoothing }>): Pick<ReaderDraft, 'smoothing'> => {
  if (body.smoothing == null) return body.smoothing === null ? { smoothing: null } : {}
  const { reads, seconds, margin_db: marginDb = null } = body.smoothing
  return { smoothing: { reads, seconds, marginDb } }
}

const readerExample: Wire<typeof readerShape> = {
  id: 8120449930581042,
  name: 'Gate 1',
  format: 'auto',
  clock: 'reader',
  created_at: '2026-05-04T08:00:00.000Z',
  last_seen_at: null,
  messages: 0,
  reads: 0,
  ignored: 0,
  warning: null,
  smoothing: null,
  scan_points: [{ antenna: 1, location_id: 7710249930581042, location_external_key: 'DOCK-3' }],
  unknown_antennas: [],
}

const ReaderOut = component('Reader', readerShape, readerExample)

const NewReaderOut = component(
  'NewReader',
  {
    ...readerShape,
    token: line,
    ingest_url: text({ max: 4096 }),
    mqtt: nullable(record({ url: nullable(text({ max: 4096 })), username: line, password: line, topic: line })),
  },
  { ...readerExample, token: 'lsd_…', ingest_url: 'https://track.example.com/ingest/v1/reads', mqtt: null },
)

const UnknownTagOut = component(
  'UnknownTag',
  {
    tag_type: oneOf(tagTypes),
    value: line,
    reader_id: nullable(reference),
    antenna: nullable(antenna),
    reads: whole,
    first_seen_at: timestamp,
    last_seen_at: timestamp,
  },
  {
    tag_type: 'rfid',
    value: 'E28011700000020A1B2C3D4E',
    reader_id: 8120449930581042,
    antenna: 1,
    reads: 12,
    first_seen_at: '2026-05-04T08:00:00.000Z',
    last_seen_at: '2026-05-04T08:15:02.120Z',
  },
)

export const readerComponents = [ReaderOut, NewReaderOut, UnknownTagOut] as Component[]

const presentReader = (reader: Reader): Wire<typeof readerShape> => ({
  id: reader.id,
  name: reader.name,
  format: reader.format,
  clock: reader.clock,
  smoothing: reader.smoothing === null ? null : presentSmoothing(reader.smoothing),
  created_at: formatMillis(reader.createdAt),
  last_seen_at: wire(reader.lastSeenAt),
  messages: reader.messages,
  reads: reader.reads,
  ignored: reader.ignored,
  warning: reader.warning,
  scan_points: reader.scanPoints.map((point) => ({
    antenna: point.antenna,
    location_id: point.locationId,
    location_external_key: point.locationKey,
  })),
  unknown_antennas: reader.unknownAntennas,
})

const presentUnknown = (one: UnknownTag): Wire<(typeof UnknownTagOut)['shape']> => ({
  tag_type: one.tag.type,
  value: one.tag.value,
  reader_id: one.readerId,
  antenna: one.antenna,
  reads: one.reads,
  first_seen_at: formatMillis(one.firstSeenAt),
  last_seen_at: formatMillis(one.lastSeenAt),
})

const pointsOf = (points: Infer<{ points: typeof scanPoints }>['points']): ReaderDraft['scanPoints'] => {
  const byAntenna = new Map(points.map((point) => [point.antenna, point.location_id]))
  return [...byAntenna].map(([number, locationId]) => ({ antenna: number, locationId }))
}

/** Managing the devices; for sessions, not part of the public description. */
export function readerRoutes(needs: ReaderNeeds): AnyRoute[] {
  const reading = { group: 'Readers', access: 'session', scopes: ['tracking:read'] } as const
  const writing = { group: 'Readers', access: 'session', scopes: ['locations:write'] } as const
  const success = { status: 200, description: 'The reader', schema: single(ReaderOut) } as const
  const exists = async (call: { caller: { orgId: number }; params: { reader_id: number } }): Promise<void> => {
    await getReader(needs, call.caller.orgId, call.params.reader_id)
  }
  const presentNew = ({ reader, token }: NewReader) => ({
    ...presentReader(reader),
    token,
    ...needs.addresses(reader, token),
  })

  return [
    route({
      ...reading,
      id: 'readers.list',
      method: 'GET',
      path: '/readers',
      summary: 'List readers',
      query: { parameters: { limit, offset } },
      success: { status: 200, description: 'A page of readers', schema: listOfAll(ReaderOut) },
      async handle({ caller, query }) {
        const page = await listReaders(needs.db.read, caller.orgId, query)
        return ok({ data: page.rows.map(presentReader), ...query, total_count: page.total })
      },
    }),
    route({
      ...writing,
      id: 'readers.create',
      method: 'POST',
      path: '/readers',
      summary: 'Add a reader; its token is shown this once',
      body: { mediaType: 'application/json', name: 'ReaderCreate', shape: createShape, example: {} },
      success: { status: 201, description: 'The reader', schema: single(NewReaderOut) },
      async handle({ caller, body }) {
        const { name, format = 'auto', clock = 'reader', scan_points = [] } = body
        const draft = { name, format, clock, ...smoothingIn(body), scanPoints: pointsOf(scan_points) }
        const made = await createReader(needs, caller.orgId, draft)
        return created(`/api/v1/readers/${made.reader.id}`, { data: presentNew(made) })
      },
    }),
    route({
      ...reading,
      id: 'readers.inbox',
      method: 'GET',
      path: '/readers/inbox',
      summary: 'Tags that were read and hang on nothing',
      query: { parameters: { limit, offset } },
      success: { status: 200, description: 'A page of tags', schema: listOfAll(UnknownTagOut) },
      async handle({ caller, query }) {
        const page = await listUnknownTags(needs.db.read, caller.orgId, query)
        return ok({ data: page.rows.map(presentUnknown), ...query, total_count: page.total })
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
      async handle({ caller, params }) {
        return ok({ data: presentReader(await getReader(needs, caller.orgId, params.reader_id)) })
      },
    }),
    route({
      ...writing,
      id: 'readers.patch',
      method: 'PATCH',
      path: '/readers/{reader_id}',
      ids: ['reader_id'],
      exists,
      summary: 'Change a reader; scan points and smoothing are replaced as a whole',
      body: { mediaType: 'application/merge-patch+json', name: 'ReaderPatch', shape: patchShape, example: {} },
      success,
      async handle({ caller, params, body }) {
        const { scan_points: points, smoothing: _smoothing, ...rest } = body
        const scanned = points === undefined ? {} : { scanPoints: pointsOf(points) }
        const change = { ...rest, ...smoothingIn(body), ...scanned }
        const reader = await changeReader(needs, caller.orgId, params.reader_id, change)
        await needs.announce()
        return ok({ data: presentReader(reader) })
      },
    }),
    route({
      ...writing,
      id: 'readers.delete',
      method: 'DELETE',
      path: '/readers/{reader_id}',
      ids: ['reader_id'],
      summary: 'Remove a reader; its token stops working',
      success: { status: 204, description: 'Removed' },
      async handle({ caller, params }) {
        await removeReader(needs, caller.orgId, params.reader_id)
        await needs.announce()
        return noContent
      },
    }),
  ]
}
