import type { ExchangeNeeds } from '../../credentials/exchange.ts'
import type { Database } from '../../db/database.ts'
import type { AnyRoute } from '../../http/route.ts'
import type { Component } from '../../http/shape.ts'
import type { PlaceNeeds } from '../../pipeline/place-asset.ts'
import { InventoryOut, inventoryRoute } from './inventory.ts'
import { TokenOut, tokenRoute } from './oauth.ts'
import { OrganizationOut, organizationRoute } from './organization.ts'

export type SurfaceNeeds = PlaceNeeds &
  ExchangeNeeds & {
    /** The connections of token exchanges and sign-ins. */
    authentication: Database
  }

/** What answers alike on both public bases. */
export const sharedRoutes = (needs: SurfaceNeeds): AnyRoute[] => [
  tokenRoute({ ...needs, db: needs.authentication }),
  organizationRoute(needs),
  inventoryRoute(needs),
]

export const sharedComponents = [TokenOut, OrganizationOut, InventoryOut] as Component[]
