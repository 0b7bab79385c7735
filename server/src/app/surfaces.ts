import { naturalKeySurface, describeNaturalKey } from '../api/natural-key/surface.ts'
import { describePrimary } from '../api/primary/description.ts'
import { primarySurface } from '../api/primary/surface.ts'
import type { SurfaceNeeds } from '../api/shared/rows.ts'
import { apiKeyComponents } from '../api/web/api-keys.ts'
import type { Config } from '../config/config.ts'
import type { PlainPage, Surface } from '../http/dispatch.ts'
import { descriptionPages } from './pages.ts'

/** One of the two public surfaces stands at the root, the other one under its name. */
const prefixes: Record<Config['rootSurface'], { primary: string; natural: string }> = {
  primary: { primary: '', natural: '/natural' },
  'natural-key': { primary: '/primary', natural: '' },
}

interface PublicSurfaces {
  surfaces: Surface[]
  pages: PlainPage[]
  /** Where the API by ids lies, for the web app. */
  primaryBase: string
}

/** The public surfaces, each on its base, and what each base says about itself. */
export function publicSurfaces(needs: SurfaceNeeds, config: Config): PublicSurfaces {
  const at = prefixes[config.rootSurface]
  const primary = primarySurface(needs, at.primary)
  const natural = naturalKeySurface(needs, at.natural)
  const server = (prefix: string): string => `${config.baseUrl ?? ''}${prefix}` || '/'
  return {
    surfaces: [primary, natural],
    primaryBase: primary.base,
    pages: [
      ...descriptionPages(
        at.primary,
        'Lastseen API',
        describePrimary(primary.routes, server(at.primary), apiKeyComponents),
      ),
      ...descriptionPages(
        at.natural,
        'Lastseen API, natural keys',
        describeNaturalKey(natural.routes, server(at.natural), apiKeyComponents),
      ),
    ],
  }
}
