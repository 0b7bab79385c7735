import { oneOf, record, reference } from '../../http/fields.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { type Field, nullable } from '../../http/schema.ts'
import { type Component, type Wire, component, wholeList } from '../../http/shape.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { getReader } from '../../readers/commands.ts'
import type { LatestRead } from '../../readers/reader.ts'
import type { Needs } from '../../records/record.ts'
import { tagTypes } from '../../tags/tag.ts'
import { type Holder, holdersOf } from '../../tracking/codes.sql.ts'
import { tagKey } from '../../tracking/tag-read.ts'
import { line, timestamp, wire } from './fields.ts'
import { antenna } from './reader-wire.ts'

export interface LatestReadNeeds extends Needs {
  latestReads: (readerId: number) => Promise<LatestRead[]>
}

const decibels: Field<number> = { schema: { type: 'number' }, read: Number }

const LatestReadOut = component(
  'LatestRead',
  {
    tag_type: oneOf(tagTypes),
    value: line,
    antenna,
    rssi_dbm: nullable(decibels),
    observed_at: nullable(timestamp),
    received_at: timestamp,
    holder: nullable(record({ kind: oneOf(['asset', 'location']), id: reference, name: line })),
  },
  {
    tag_type: 'rfid',
    value: 'E28011700000020A1B2C3D4E',
    antenna: 1,
    rssi_dbm: -57.5,
    observed_at: '2026-05-04T08:15:02.120Z',
    received_at: '2026-05-04T08:15:02.480Z',
    holder: { kind: 'asset', id: 4503170118275611, name: 'Pallet jack 7' },
  },
)

export const latestReadComponents = [LatestReadOut] as Component[]

const presentRead = (one: LatestRead, holder: Holder | undefined): Wire<(typeof LatestReadOut)['shape']> => ({
  tag_type: one.tag.type,
  value: one.tag.value,
  antenna: one.antenna,
  rssi_dbm: one.rssiDbm,
  observed_at: wire(one.observedAt),
  received_at: formatMillis(one.receivedAt),
  holder: holder ?? null,
})

/** What a reader reads just now, for whoever sets it up. */
export function latestReadRoutes(needs: LatestReadNeeds): AnyRoute[] {
  return [
    route({
      id: 'readers.reads',
      group: 'Readers',
      method: 'GET',
      access: 'session',
      scopes: ['locations:write'],
      path: '/readers/{reader_id}/reads',
      ids: ['reader_id'],
      summary: 'The latest reads of a reader, newest first',
      description: 'Fifty at most. They are gathered while somebody asks at least every half minute, and kept nowhere.',
      success: { status: 200, description: 'The reads', schema: wholeList(LatestReadOut) },
      async handle({ caller, params }) {
        await getReader(needs, caller.orgId, params.reader_id)
        const reads = await needs.latestReads(params.reader_id)
        const holders = await holdersOf(
          needs.db.read,
          caller.orgId,
          new Map(reads.map(({ tag }) => [tagKey(tag), tag])),
        )
        return ok({ data: reads.map((one) => presentRead(one, holders.get(tagKey(one.tag)))) })
      },
    }),
  ]
}
