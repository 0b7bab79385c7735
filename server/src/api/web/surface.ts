import type { SessionNeeds } from '../../credentials/sessions.ts'
import type { Surface } from '../../http/dispatch.ts'
import type { Live } from '../../tracking/live.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { liveRoute } from './live.ts'
import { type ReaderNeeds, readerRoutes } from './readers.ts'
import { sessionRoutes } from './sessions.ts'
import { type WebhookRouteNeeds, webhookRoutes } from './webhooks.ts'

/** What the web app needs beyond the public API: signing in, and administering an organization. */
export function webSurface(needs: SessionNeeds & ReaderNeeds & WebhookRouteNeeds, live: Live): Surface {
  const routes = [
    ...sessionRoutes(needs),
    ...apiKeyRoutes(needs),
    ...readerRoutes(needs),
    ...webhookRoutes(needs),
    liveRoute(live),
  ]
  return { base: '/api/v1', routes }
}
