import type { TokenEndpointDeps } from '../../auth/token-endpoint.ts'
import type { Database } from '../../db/database.ts'
import type { AnyRoute } from '../../http/route.ts'
import type { Component } from '../../http/openapi/response-schema.ts'
import type { AssetLocationDeps } from '../../tracking/recording/asset-at-location.ts'
import { type BulkDeps, bulkRoutes } from './bulk.ts'
import { bulkComponents } from './bulk-wire.ts'
import { InventoryOut, inventoryRoute } from './inventory.ts'
import { type LiveDeps, liveRoute } from './live.ts'
import { MoveOut } from './moves.ts'
import { TokenOut, tokenRoute } from './oauth.ts'
import { OrganizationOut, organizationRoute } from './organization.ts'

export type SurfaceDeps = AssetLocationDeps &
  TokenEndpointDeps &
  BulkDeps &
  LiveDeps & {
    /** The database connections of token exchanges and sign-ins. */
    authentication: Database
  }

/** The routes that are the same on both public surfaces. */
export const sharedRoutes = (deps: SurfaceDeps, base: string): AnyRoute[] => [
  tokenRoute({ ...deps, db: deps.authentication }),
  organizationRoute(deps),
  inventoryRoute(deps),
  ...bulkRoutes(deps, base),
  liveRoute(deps),
]

export const sharedComponents = [TokenOut, OrganizationOut, InventoryOut, ...bulkComponents, MoveOut] as Component[]
