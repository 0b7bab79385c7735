import {
  assetRows,
  assetTable,
  historyRows,
  historyTable,
  locationRows,
  locationTable,
  positionRows,
  positionTable,
  toCsv,
} from '../../bulk/exports.ts'
import { booleanParam, idsParam, searchParam, timestampParam } from '../../http/validation/parameters.ts'
import { type AnyRoute, type Reply, route } from '../../http/route.ts'
import type { RecordDeps } from '../../records/record.ts'

const file = (fileName: string, chunks: AsyncIterable<string>): Reply => ({
  status: 200,
  download: { type: 'text/csv; charset=utf-8', fileName, chunks },
})

/** CSV exports, generated while they are sent. If an export fails midway, the server closes the connection. */
export function exportRoutes(deps: RecordDeps): AnyRoute[] {
  const common = {
    group: 'Exports',
    method: 'GET',
    access: 'session',
    success: { status: 200, description: 'A CSV file' },
  } as const
  return [
    route({
      ...common,
      id: 'exports.assets',
      path: '/exports/assets.csv',
      scopes: ['assets:read'],
      summary: 'Export all assets, or those with the given ids',
      query: { parameters: { asset_id: idsParam } },
      async handle({ principal: { orgId }, query: { asset_id: assetIds } }) {
        return file('assets.csv', toCsv(assetTable, assetRows(deps.db.replica(orgId), orgId, assetIds)))
      },
    }),
    route({
      ...common,
      id: 'exports.locations',
      path: '/exports/locations.csv',
      scopes: ['locations:read'],
      summary: 'Export all locations',
      async handle({ principal }) {
        return file(
          'locations.csv',
          toCsv(locationTable, locationRows(deps.db.replica(principal.orgId), principal.orgId)),
        )
      },
    }),
    route({
      ...common,
      id: 'exports.history',
      path: '/exports/history.csv',
      scopes: ['tracking:read'],
      summary: 'Export the location history of assets',
      query: { parameters: { asset_id: idsParam, from: timestampParam, to: timestampParam } },
      async handle({ principal, query: { asset_id: assetIds, from, to } }) {
        const rows = historyRows(deps.db.replica(principal.orgId), principal.orgId, { assetIds, from, to })
        return file('history.csv', toCsv(historyTable, rows))
      },
    }),
    route({
      ...common,
      id: 'exports.positions',
      path: '/exports/positions.csv',
      scopes: ['tracking:read'],
      summary: 'Export the current or past location of each scanned asset',
      query: {
        parameters: {
          at: timestampParam,
          location_id: idsParam,
          include_descendants: {
            ...booleanParam,
            description: 'With a location filter: also the locations below those locations.',
          },
          q: searchParam,
        },
      },
      async handle({ principal, query }) {
        const { at, q, location_id: locationIds, include_descendants: includeDescendants } = query
        const filter = { at, q, locationIds, includeDescendants }
        const rows = positionRows(deps.db.replica(principal.orgId), principal.orgId, filter)
        return file('positions.csv', toCsv(positionTable, rows))
      },
    }),
  ]
}
