import type { Surface } from '../../http/dispatcher-deps.ts'
import type { Component } from '../../http/openapi/response-schema.ts'
import { type SurfaceDeps, sharedComponents, sharedRoutes } from '../shared/routes.ts'
import { AssetOut, AssetRenamed, assetRoutes } from './assets.ts'
import { mapErrorFields } from './error-fields.ts'
import { LocationOut, LocationRenamed, locationRoutes } from './locations.ts'
import { AssetLocationOut, HistoryOut, LocationEventOut, trackingRoutes } from './tracking.ts'
import { TagOut } from './wire.ts'

/** Surface 1: paths use ids, resources have an `external_key`, and updates are merge patches. */
export function primarySurface(deps: SurfaceDeps, prefix = ''): Surface {
  const base = `${prefix}/api/v1`
  return {
    base,
    routes: [
      ...sharedRoutes(deps, base),
      ...assetRoutes(deps, base),
      ...locationRoutes(deps, base).map(mapErrorFields),
      ...trackingRoutes(deps),
    ],
  }
}

export const primaryComponents: readonly Component[] = [
  ...sharedComponents,
  AssetOut,
  AssetRenamed,
  LocationOut,
  LocationRenamed,
  TagOut,
  HistoryOut,
  AssetLocationOut,
  LocationEventOut,
] as Component[]
