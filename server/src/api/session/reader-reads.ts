import { oneOf, object, id } from '../../http/validation/fields.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { type Field, nullable } from '../../http/validation/schema.ts'
import { type Component, type Output, component, arrayOf } from '../../http/openapi/response-schema.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { getReader } from '../../readers/commands.ts'
import type { LatestRead } from '../../readers/reader.ts'
import type { RecordDeps } from '../../records/record.ts'
import { tagKey, tagTypes } from '../../tags/tag.ts'
import { type CodeOwner, codeOwnersOf } from '../../tracking/codes.sql.ts'
import { timestamp } from '../shared/wire.ts'
import { singleLine, formatNullable } from './fields.ts'
import { antenna } from './reader-wire.ts'

export interface LatestReadDeps extends RecordDeps {
  latestReads: (orgId: number, readerId: number) => Promise<LatestRead[]>
}

const decibels: Field<number> = { schema: { type: 'number' }, parse: Number }

const LatestReadOut = component(
  'LatestRead',
  {
    tag_type: oneOf(tagTypes),
    value: singleLine,
    antenna,
    rssi_dbm: nullable(decibels),
    observed_at: nullable(timestamp),
    received_at: timestamp,
    owner: nullable(object({ kind: oneOf(['asset', 'location']), id: id, name: singleLine })),
  },
  {
    tag_type: 'rfid',
    value: 'E28011700000020A1B2C3D4E',
    antenna: 1,
    rssi_dbm: -57.5,
    observed_at: '2026-05-04T08:15:02.120Z',
    received_at: '2026-05-04T08:15:02.480Z',
    owner: { kind: 'asset', id: 4503170118275611, name: 'Pallet jack 7' },
  },
)

export const latestReadComponents = [LatestReadOut] as Component[]

const presentRead = (read: LatestRead, owner: CodeOwner | undefined): Output<(typeof LatestReadOut)['shape']> => ({
  tag_type: read.tag.type,
  value: read.tag.value,
  antenna: read.antenna,
  rssi_dbm: read.rssiDbm,
  observed_at: formatNullable(read.observedAt),
  received_at: formatMillis(read.receivedAt),
  owner: owner ?? null,
})

/** The latest reads of a reader, for the user who sets it up. */
export function latestReadRoutes(deps: LatestReadDeps): AnyRoute[] {
  return [
    route({
      id: 'readers.reads',
      group: 'Readers',
      method: 'GET',
      access: 'session',
      scopes: ['locations:write'],
      path: '/readers/{reader_id}/reads',
      ids: ['reader_id'],
      summary: 'List the latest reads of a reader, newest first',
      description: 'At most 50. They are collected in memory while a client requests them at least every 30 seconds.',
      success: { status: 200, description: 'The reads', schema: arrayOf(LatestReadOut) },
      async handle({ principal, params }) {
        await getReader(deps, principal.orgId, params.reader_id)
        const reads = await deps.latestReads(principal.orgId, params.reader_id)
        const owners = await codeOwnersOf(
          deps.db.read,
          principal.orgId,
          new Map(reads.map(({ tag }) => [tagKey(tag), tag])),
        )
        return ok({ data: reads.map((read) => presentRead(read, owners.get(tagKey(read.tag)))) })
      },
    }),
  ]
}
