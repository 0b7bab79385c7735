import type { Surface } from '../../http/dispatcher-deps.ts'
import { describeApi } from '../../http/openapi/document.ts'
import type { AnyRoute } from '../../http/route.ts'
import type { Component } from '../../http/openapi/response-schema.ts'
import { type SurfaceDeps, sharedComponents, sharedRoutes } from '../shared/routes.ts'
import { AssetOut, assetRoutes } from './assets.ts'
import { LocationOut, locationRoutes } from './locations.ts'
import { CurrentLocationOut, HistoryOut, trackingRoutes } from './tracking.ts'
import { IdentifierOut } from './wire.ts'
import { mapErrorFields } from './error-fields.ts'

/** Surface 2, the interface of v1.0.0: paths use natural keys, tags are called identifiers, and updates are PUT requests. */
export function naturalKeySurface(deps: SurfaceDeps, prefix: string): Surface {
  const base = `${prefix}/api/v1`
  const routes = [
    ...sharedRoutes(deps, base),
    ...assetRoutes(deps, base),
    ...locationRoutes(deps, base),
    ...trackingRoutes(deps),
  ]
  return { base, label: 'natural-key.', routes: routes.map(mapErrorFields) }
}

const components = [
  ...sharedComponents,
  AssetOut,
  LocationOut,
  IdentifierOut,
  HistoryOut,
  CurrentLocationOut,
] as Component[]

const about = `Lastseen knows where physical things are. This is the natural-key interface of v1.0.0: paths name assets and locations by their identifiers, and updates are PUT requests that change only the fields in the body. This interface and the id-based interface work on the same data.

Exchange a credential for a token at \`POST /api/v1/oauth/token\` and send it as \`Authorization: Bearer <token>\`. A token lasts 15 minutes.

Each credential has its own token bucket: bursts of 120 requests, 60 per minute sustained. Every response states how many requests remain.

Percent-encode identifiers in paths. Times are RFC 3339 in UTC with milliseconds. Unset fields are omitted from responses, except \`valid_to\`, which is then null. Unknown fields and parameters are rejected. All errors have the same shape, and \`error.type\` identifies the error.`

/** `internal` are the schemas of API key administration. The contract requires them in both public documents. */
export const describeNaturalKey = (routes: readonly AnyRoute[], serverUrl: string, internal: readonly Component[]) =>
  describeApi({ serverUrl, description: about, routes, components: [...components, ...internal] })
