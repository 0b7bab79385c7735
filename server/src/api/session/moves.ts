import { integerParam, limit } from '../../http/validation/parameters.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { arrayOf, component } from '../../http/openapi/response-schema.ts'
import { formatMillis, instantFromMillis } from '../../kernel/instant.ts'
import type { RecordDeps } from '../../records/record.ts'
import { countMoves } from '../../tracking/report/overview.sql.ts'
import { latestMoves } from '../../tracking/moves.sql.ts'
import { MoveOut, presentMove } from '../shared/moves.ts'
import { timestamp } from '../shared/wire.ts'
import { integer } from './fields.ts'

export const MoveCountOut = component(
  'MoveCount',
  { at: timestamp, moves: integer },
  { at: '2026-05-04T08:15:00.000Z', moves: 12 },
)

const dayMs = 86_400_000
const quarterMs = 900_000

/** The numbers of moves in the chart of the overview page. */
export const moveCountsRoute = (deps: RecordDeps): AnyRoute =>
  route({
    group: 'Overview and search',
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
    group: 'Overview and search',
    method: 'GET',
    access: 'session',
    scopes: ['tracking:read'],
    id: 'moves.list',
    path: '/moves',
    summary: 'List the latest moves, newest first',
    query: { parameters: { limit } },
    success: { status: 200, description: 'The latest moves', schema: arrayOf(MoveOut) },
    async handle({ principal: { orgId }, query }) {
      const moves = await latestMoves(deps.db.replica(orgId), orgId, query.limit)
      return ok({ data: moves.map(presentMove) })
    },
  })
