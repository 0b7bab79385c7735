import { exportAssets, exportHistory, exportLocations, exportPositions } from '../../bulk/exports.ts'
import { ids, moment } from '../../http/query.ts'
import { type AnyRoute, type Answer, route } from '../../http/route.ts'
import type { Needs } from '../../records/record.ts'

const file = (fileName: string, chunks: AsyncIterable<string>): Answer => ({
  status: 200,
  download: { type: 'text/csv; charset=utf-8', fileName, chunks },
})

/** Everything as CSV, made while it is sent. One that cannot be finished ends with the connection. */
export function exportRoutes(needs: Needs): AnyRoute[] {
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
      summary: 'Every asset',
      async handle({ caller }) {
        return file('assets.csv', exportAssets(needs.db.reports(caller.orgId), caller.orgId))
      },
    }),
    route({
      ...common,
      id: 'exports.locations',
      path: '/exports/locations.csv',
      scopes: ['locations:read'],
      summary: 'Every location',
      async handle({ caller }) {
        return file('locations.csv', exportLocations(needs.db.reports(caller.orgId), caller.orgId))
      },
    }),
    route({
      ...common,
      id: 'exports.history',
      path: '/exports/history.csv',
      scopes: ['tracking:read'],
      summary: 'Where assets have been',
      query: { parameters: { asset_id: ids, from: moment, to: moment } },
      async handle({ caller, query: { asset_id: assetIds, from, to } }) {
        return file('history.csv', exportHistory(needs.db.reports(caller.orgId), caller.orgId, { assetIds, from, to }))
      },
    }),
    route({
      ...common,
      id: 'exports.positions',
      path: '/exports/positions.csv',
      scopes: ['tracking:read'],
      summary: 'Where every scanned asset is, or was',
      query: { parameters: { at: moment } },
      async handle({ caller, query }) {
        return file('positions.csv', exportPositions(needs.db.reports(caller.orgId), caller.orgId, query.at))
      },
    }),
  ]
}
