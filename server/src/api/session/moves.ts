import { idsParam, limit, offset, timestampParam } from '../../http/validation/query.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { pageOf } from '../../http/openapi/response-schema.ts'
import type { RecordDeps } from '../../records/record.ts'
import { listMoves } from '../../tracking/moves.sql.ts'
import { MoveOut, presentMove } from '../shared/moves.ts'

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
