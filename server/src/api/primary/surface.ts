import type { ExchangeNeeds } from '../../credentials/exchange.ts'
import type { Surface } from '../../http/dispatch.ts'
import type { Component } from '../../http/shape.ts'
import type { Needs } from '../../records/record.ts'
import { AssetOut, assetRoutes } from './assets.ts'
import { LocationOut, locationRoutes } from './locations.ts'
import { tokenComponents, tokenRoute } from './oauth.ts'
import { OrganizationOut, organizationRoute } from './organization.ts'
import { AssetLocationOut, HistoryOut, PassageOut, trackingRoutes } from './tracking.ts'
import { TagOut, renamed } from './wire.ts'

/** Surface 1: paths take ids, resources carry `external_key`, updates are merge patches. */
export function primarySurface(needs: Needs & ExchangeNeeds): Surface {
  return {
    base: '/api/v1',
    routes: [
      tokenRoute(needs),
      organizationRoute(needs),
      ...assetRoutes(needs),
      ...locationRoutes(needs),
      ...trackingRoutes(needs),
    ],
  }
}

export const primaryComponents: readonly Component[] = [
  ...tokenComponents,
  OrganizationOut,
  AssetOut,
  renamed(AssetOut, 'AssetRenamed'),
  LocationOut,
  renamed(LocationOut, 'LocationRenamed'),
  TagOut,
  HistoryOut,
  AssetLocationOut,
  PassageOut,
] as Component[]
