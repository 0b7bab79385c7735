import type { Surface } from '../../http/dispatcher-deps.ts'
import type { Component } from '../../http/openapi/response-schema.ts'
import { type SurfaceDeps, sharedComponents, sharedRoutes } from '../shared/routes.ts'
import { AssetOut, assetRoutes } from './assets.ts'
import { LocationOut, locationRoutes } from './locations.ts'
import { AssetLocationOut, HistoryOut, LocationEventOut, trackingRoutes } from './tracking.ts'
import { TagOut, renamed } from './wire.ts'

/** Surface 1: paths use ids, resources have an `external_key`, and updates are merge patches. */
export function primarySurface(deps: SurfaceDeps, prefix = ''): Surface {
  const base = `${prefix}/api/v1`
  return {
    base,
    routes: [
      ...sharedRoutes(deps, base),
      ...assetRoutes(deps, base),
      ...locationRoutes(deps, base),
      ...trackingRoutes(deps),
    ],
  }
}

export const primaryComponents: readonly Component[] = [
  ...sharedComponents,
  AssetOut,
  renamed(AssetOut, 'AssetRenamed'),
  LocationOut,
  renamed(LocationOut, 'LocationRenamed'),
  TagOut,
  HistoryOut,
  AssetLocationOut,
  LocationEventOut,
] as Component[]
