import { naturalKeySurface, describeNaturalKey } from '../api/natural-key/surface.ts'
import { describePrimary } from '../api/primary/openapi.ts'
import { primarySurface } from '../api/primary/surface.ts'
import type { SurfaceDeps } from '../api/shared/routes.ts'
import { apiKeyComponents } from '../api/session/api-keys.ts'
import type { Config } from '../config/config.ts'
import type { Surface } from '../http/dispatcher-deps.ts'
import type { RawRoute } from '../http/route.ts'
import { openapiRoutes } from './system-routes.ts'

/** One of the two public surfaces is at the root, the other one under a prefix. */
const prefixes: Record<Config['rootSurface'], { primary: string; natural: string }> = {
  primary: { primary: '', natural: '/natural' },
  'natural-key': { primary: '/primary', natural: '' },
}

interface PublicSurfaces {
  surfaces: Surface[]
  pages: RawRoute[]
  /** The base path of the primary surface, for the web app. */
  primaryBase: string
}

/** The public surfaces and their documentation routes. */
export function publicSurfaces(deps: SurfaceDeps, config: Config): PublicSurfaces {
  const prefix = prefixes[config.rootSurface]
  const primary = primarySurface(deps, prefix.primary)
  const natural = naturalKeySurface(deps, prefix.natural)
  const serverUrl = (path: string): string => `${config.baseUrl ?? ''}${path}` || '/'
  return {
    surfaces: [primary, natural],
    primaryBase: primary.base,
    pages: [
      ...openapiRoutes(
        prefix.primary,
        'Lastseen API',
        describePrimary(primary.routes, serverUrl(prefix.primary), apiKeyComponents),
      ),
      ...openapiRoutes(
        prefix.natural,
        'Lastseen API, natural keys',
        describeNaturalKey(natural.routes, serverUrl(prefix.natural), apiKeyComponents),
      ),
    ],
  }
}
