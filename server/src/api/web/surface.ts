import type { SessionNeeds } from '../../credentials/sessions.ts'
import type { Surface } from '../../http/dispatch.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { sessionRoutes } from './sessions.ts'

/** What the web app needs beyond the public API: signing in, and administering an organization. */
export function webSurface(needs: SessionNeeds): Surface {
  return { base: '/api/v1', routes: [...sessionRoutes(needs), ...apiKeyRoutes(needs)] }
}
