import { listOf, oneOf, object, id, text } from '../../http/validation/fields.ts'
import { type Field, type Infer, nullable, optional, reject, rejectType } from '../../http/validation/schema.ts'
import { type Output, component } from '../../http/openapi/response-schema.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { type Reader, type ReaderDraft, type Smoothing, readerFormats, smoothingBounds } from '../../readers/reader.ts'
import { readerClocks } from '../../tracking/observed-time.ts'
import { timestamp } from '../shared/wire.ts'
import { singleLine, integer, formatNullable } from './fields.ts'

const between = (min: number, max: number): Field<number> => ({
  schema: { type: 'integer', minimum: min, maximum: max },
  parse(value, path, context) {
    if (typeof value !== 'number' || !Number.isInteger(value)) return rejectType(context, path, 'integer', value)
    if (value < min)
      return reject(context, {
        field: path,
        code: 'too_small',
        message: `${path} must be at least ${min}`,
        params: { min },
      })
    if (value > max)
      return reject(context, {
        field: path,
        code: 'too_large',
        message: `${path} must be at most ${max}`,
        params: { max },
      })
    return value
  },
})

export const antenna = between(1, 65_535)

const smoothing = object({
  reads: between(...smoothingBounds.reads),
  seconds: between(...smoothingBounds.seconds),
  margin_db: optional(nullable(between(...smoothingBounds.marginDb))),
})

const scanPoints = listOf(object({ antenna, location_id: nullable(id) }), { max: 256 })

export const patchShape = {
  name: optional(text({ min: 1, max: 255 })),
  format: optional(oneOf(readerFormats)),
  clock: optional(oneOf(readerClocks)),
  smoothing: optional(nullable(smoothing)),
  scan_points: optional(scanPoints),
}

/** `topic_key` assigns an unknown topic to the reader; if it is absent, the reader gets a new topic. */
export const createShape = { ...patchShape, name: text({ min: 1, max: 255 }), topic_key: optional(singleLine) }

const readerShape = {
  id: id,
  name: singleLine,
  format: singleLine,
  clock: singleLine,
  created_at: timestamp,
  last_seen_at: nullable(timestamp),
  messages: integer,
  reads: integer,
  ignored: integer,
  warning: nullable(text({ max: 1024 })),
  smoothing: nullable(object({ reads: integer, seconds: integer, margin_db: nullable(integer) })),
  scan_points: listOf(object({ antenna, location_id: nullable(id), location_external_key: nullable(singleLine) })),
  unknown_antennas: listOf(object({ antenna, reads: integer })),
}

const presentSmoothing = ({ reads, seconds, marginDb }: Smoothing) => ({ reads, seconds, margin_db: marginDb })

/** If the field is absent, smoothing is unchanged; null turns it off. */
export const smoothingIn = (
  body: Infer<{ smoothing: typeof patchShape.smoothing }>,
): Pick<ReaderDraft, 'smoothing'> => {
  if (body.smoothing == null) return body.smoothing === null ? { smoothing: null } : {}
  const { reads, seconds, margin_db: marginDb = null } = body.smoothing
  return { smoothing: { reads, seconds, marginDb } }
}

const readerExample: Output<typeof readerShape> = {
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

export const ReaderOut = component('Reader', readerShape, readerExample)

const mqtt = { url: nullable(text({ max: 4096 })), username: singleLine, topic: singleLine }
const ingestUrl = text({ max: 4096 })

export const NewReaderOut = component(
  'NewReader',
  {
    ...readerShape,
    token: singleLine,
    previous_token_expires_at: nullable(timestamp),
    ingest_url: ingestUrl,
    mqtt: object({ ...mqtt, password: singleLine }),
  },
  {
    ...readerExample,
    token: 'lsd_…',
    previous_token_expires_at: null,
    ingest_url: 'https://track.example.com/ingest/v1/reads',
    mqtt: {
      url: 'mqtt://track.example.com:1883',
      username: '8120449930581042',
      topic: 'lastseen/3f…/reads',
      password: 'lsd_…',
    },
  },
)

const connectionShape = { ingest_url: ingestUrl, mqtt: object(mqtt) }

/** At an external broker the topic authenticates the reader, so it is shown only to users who may change the reader. */
export type Connection = Output<typeof connectionShape>

export const ConnectionOut = component('ReaderConnection', connectionShape, {
  ingest_url: 'https://track.example.com/ingest/v1/reads',
  mqtt: { url: 'mqtt://track.example.com:1883', username: '8120449930581042', topic: 'lastseen/3f…/reads' },
})

export const presentReader = (reader: Reader): Output<typeof readerShape> => ({
  id: reader.id,
  name: reader.name,
  format: reader.format,
  clock: reader.clock,
  smoothing: reader.smoothing === null ? null : presentSmoothing(reader.smoothing),
  created_at: formatMillis(reader.createdAt),
  last_seen_at: formatNullable(reader.lastSeenAt),
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

export const pointsOf = (points: Infer<{ points: typeof scanPoints }>['points']): ReaderDraft['scanPoints'] => {
  const byAntenna = new Map(points.map((point) => [point.antenna, point.location_id]))
  return [...byAntenna].map(([number, locationId]) => ({ antenna: number, locationId }))
}
