import { assetRepository } from '../../assets/assets.sql.ts'
import { boolean, id, listOf, object, text } from '../../http/validation/fields.ts'
import { nullable } from '../../http/validation/schema.ts'
import { limit, offset } from '../../http/validation/parameters.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { type Output, component, pageOf } from '../../http/openapi/response-schema.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { getRecord } from '../../records/commands.ts'
import type { RecordDeps } from '../../records/record.ts'
import { maxNoteLength } from '../../tracking/sighting-notes.sql.ts'
import { type Stay, assetStays, maxNotesPerPage, maxNotesPerStay } from '../../tracking/history/stays.sql.ts'
import { timestamp } from '../shared/wire.ts'
import { singleLine, integer, formatNullable } from './fields.ts'
import { periodOf, periodParameters } from './reports.ts'

const StayNoteOut = {
  noted_at: timestamp,
  noted_by: nullable(singleLine),
  location_id: nullable(id),
  location_name: nullable(singleLine),
  note: text({ max: maxNoteLength }),
}

export const StayOut = component(
  'Stay',
  {
    location_id: nullable(id),
    location_external_key: nullable(singleLine),
    location_name: nullable(singleLine),
    began_at: timestamp,
    began_earlier: boolean,
    ended_at: nullable(timestamp),
    last_seen_at: timestamp,
    minutes: integer,
    notes: listOf(object(StayNoteOut)),
  },
  {
    location_id: 7710249930581042,
    location_external_key: 'DOCK-3',
    location_name: 'Dock 3',
    began_at: '2026-05-04T08:15:02.120Z',
    began_earlier: false,
    ended_at: null,
    last_seen_at: '2026-05-04T09:02:40.000Z',
    minutes: 31,
    notes: [
      {
        noted_at: '2026-05-04T09:02:40.000Z',
        noted_by: 'ada@example.com',
        location_id: 7710249930581042,
        location_name: 'Dock 3',
        note: 'Left wheel is broken',
      },
    ],
  },
)

const presentStay = (stay: Stay): Output<(typeof StayOut)['shape']> => ({
  location_id: stay.locationId,
  location_external_key: stay.locationKey,
  location_name: stay.locationName,
  began_at: formatMillis(stay.beganAt),
  began_earlier: stay.beganEarlier,
  ended_at: formatNullable(stay.endedAt),
  last_seen_at: formatMillis(stay.lastSeenAt),
  minutes: stay.minutes,
  notes: stay.notes.map(({ notedAt, notedBy, locationId, locationName, note }) => ({
    noted_at: formatMillis(notedAt),
    noted_by: notedBy,
    location_id: locationId,
    location_name: locationName,
    note,
  })),
})

export const staysRoute = (deps: RecordDeps): AnyRoute =>
  route({
    group: 'Overview and search',
    method: 'GET',
    access: 'session',
    scopes: ['tracking:read'],
    id: 'assets.stays',
    path: '/asset-stays/{asset_id}',
    ids: ['asset_id'],
    summary: 'List the stays of an asset, latest first',
    description: `A stay is a run of history rows at one location. It ends with the first row elsewhere. \`began_earlier\` means that it began before the period, with the last row before it. \`notes\` are what operators wrote when they set the location, latest first: the latest ${maxNotesPerStay} of a stay, and the latest ${maxNotesPerPage} of a page.`,
    query: { parameters: { limit, offset, ...periodParameters } },
    success: { status: 200, description: 'A page of stays', schema: pageOf(StayOut) },
    async handle({ principal: { orgId }, params, query }) {
      await getRecord(deps, assetRepository, orgId, params.asset_id)
      const [from, to] = periodOf(deps.clock, query)
      const paging = { limit: query.limit, offset: query.offset }
      const page = await assetStays(deps.db.replica(orgId), orgId, params.asset_id, { ...paging, from, to })
      return ok({ data: page.rows.map(presentStay), ...paging, total_count: page.total })
    },
  })
