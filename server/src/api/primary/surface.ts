import type { Surface } from '../../http/dispatch.ts'
import type { Component } from '../../http/shape.ts'
import { type SurfaceNeeds, sharedComponents, sharedRoutes } from '../shared/rows.ts'
import { AssetOut, assetRoutes } from './assets.ts'
import { LocationOut, locationRoutes } from './locations.ts'
import { AssetLocationOut, HistoryOut, PassageOut, trackingRoutes } from './tracking.ts'
import { TagOut, renamed } from './wire.ts'

/** Surface 1: paths take ids, resources carry `external_key`, updates are merge patches. */
export function primarySurface(needs: SurfaceNeeds, prefix = ''): Surface {
  const base = `${prefix}/api/v1`
  return {
    base,
    routes: [
      ...sharedRoutes(needs),
      ...assetRoutes(needs, base),
      ...locationRoutes(needs, base),
      ...trackingRoutes(needs),
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
  PassageOut,
] as Component[]
