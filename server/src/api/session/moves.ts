import { record, id } from '../../http/validation/fields.ts'
import { nullable } from '../../http/validation/schema.ts'
import { idsParam, integerParam, limit, offset, timestampParam } from '../../http/validation/query.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { type Output, arrayOf, component, pageOf } from '../../http/openapi/response-schema.ts'
import { formatMillis, instantFromMillis } from '../../kernel/instant.ts'
import type { RecordDeps } from '../../records/record.ts'
import { countMoves } from '../../tracking/overview.sql.ts'
import { type RecordedMove, listMoves } from '../../tracking/moves.sql.ts'
import { line, timestamp, whole } from './fields.ts'

const locationRef = record({ id: id, name: line })

export const MoveOut = component(
  'Move',
  {
    delivery_id: { schema: { type: 'string', format: 'uuid' }, parse: String },
    occurred_at: timestamp,
    asset: record({ id: id, external_key: line, name: line }),
    from_location: nullable(locationRef),
    to_location: locationRef,
  },
  {
    delivery_id: '0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11',
    occurred_at: '2026-05-04T08:15:02.120Z',
    asset: { id: 4503170118275611, external_key: 'ASSET-0001', name: 'Pallet jack 7' },
    from_location: null,
    to_location: { id: 7710249930581042, name: 'Dock 3' },
  },
)

export const presentMove = (move: RecordedMove): Output<(typeof MoveOut)['shape']> => ({
  delivery_id: move.deliveryId,
  occurred_at: formatMillis(move.occurredAt),
  asset: { id: move.assetId, external_key: move.assetKey, name: move.assetName },
  from_location: move.from,
  to_location: move.to,
})

export const MoveCountOut = component(
  'MoveCount',
  { at: timestamp, moves: whole },
  { at: '2026-05-04T08:15:00.000Z', moves: 12 },
)

const dayMs = 86_400_000
const quarterMs = 900_000

/** For the chart of the overview. */
export const moveCountsRoute = (deps: RecordDeps): AnyRoute =>
  route({
    group: 'Looking',
    method: 'GET',
    access: 'session',
    scopes: ['tracking:read'],
    id: 'moves.counts',
    path: '/move-counts',
    summary: 'Count the moves of the last days per quarter of an hour',
    description: 'Quarters of an hour without moves are omitted.',
    query: { parameters: { days: integerParam(1, 32, 1) } },
    success: { status: 200, description: 'One entry per quarter of an hour, in order', schema: arrayOf(MoveCountOut) },
    async handle({ principal: { orgId }, query: { days } }) {
      const sinceMs = Math.floor((deps.clock.millis() - days * dayMs) / quarterMs) * quarterMs
      const counts = await countMoves(deps.db.replica(orgId), orgId, instantFromMillis(sinceMs))
      return ok({ data: counts.map(({ at, moves }) => ({ at: formatMillis(at), moves })) })
    },
  })

export const movesRoute = (deps: RecordDeps): AnyRoute =>
  route({
    group: 'Looking',
    method: 'GET',
    access: 'session',
    scopes: ['tracking:read'],
    id: 'moves.list',
    path: '/moves',
    summary: 'List moves, newest first',
    query: {
      parameters: {
        limit,
        offset,
        asset_id: idsParam,
        location_id: idsParam,
        from: timestampParam,
        to: timestampParam,
      },
    },
    success: { status: 200, description: 'A page of moves', schema: pageOf(MoveOut) },
    async handle({ principal, query }) {
      const { limit: most, offset: skipped, asset_id: assetIds, location_id: locationIds, from, to } = query
      const request = { limit: most, offset: skipped, assetIds, locationIds, from, to }
      const page = await listMoves(deps.db.read, principal.orgId, request)
      return ok({ data: page.rows.map(presentMove), limit: most, offset: skipped, total_count: page.total })
    },
  })
