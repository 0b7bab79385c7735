import { naturalKeySurface, describeNaturalKey } from '../api/natural-key/surface.ts'
import { describePrimary } from '../api/primary/openapi.ts'
import { primarySurface } from '../api/primary/surface.ts'
import type { SurfaceDeps } from '../api/shared/routes.ts'
import { apiKeyComponents } from '../api/session/api-keys.ts'
import type { Config } from '../config/config.ts'
import type { RawRoute, Surface } from '../http/dispatcher.ts'
import { openapiRoutes } from './system-routes.ts'

/** One of the two public surfaces stands at the root, the other one under its name. */
const prefixes: Record<Config['rootSurface'], { primary: string; natural: string }> = {
  primary: { primary: '', natural: '/natural' },
  'natural-key': { primary: '/primary', natural: '' },
}

interface PublicSurfaces {
  surfaces: Surface[]
  pages: RawRoute[]
  /** Where the API by ids lies, for the web app. */
  primaryBase: string
}

/** The public surfaces, each on its base, and what each base says about itself. */
export function publicSurfaces(deps: SurfaceDeps, config: Config): PublicSurfaces {
  const at = prefixes[config.rootSurface]
  const primary = primarySurface(deps, at.primary)
  const natural = naturalKeySurface(deps, at.natural)
  const server = (prefix: string): string => `${config.baseUrl ?? ''}${prefix}` || '/'
  return {
    surfaces: [primary, natural],
    primaryBase: primary.base,
    pages: [
      ...openapiRoutes(
        at.primary,
        'Lastseen API',
        describePrimary(primary.routes, server(at.primary), apiKeyComponents),
      ),
      ...openapiRoutes(
        at.natural,
        'Lastseen API, natural keys',
        describeNaturalKey(natural.routes, server(at.natural), apiKeyComponents),
      ),
    ],
  }
}
