import type { AccountNeeds } from '../../accounts/needs.ts'
import type { Database } from '../../db/database.ts'
import type { Surface } from '../../http/dispatch.ts'
import type { Component } from '../../http/shape.ts'
import type { OpenStreams } from '../../credentials/open-streams.ts'
import type { Live } from '../../tracking/live.ts'
import { accountComponents, invitationRoutes, memberRoutes, passwordRoutes } from './accounts.ts'
import { apiKeyComponents, apiKeyRoutes } from './api-keys.ts'
import { exportRoutes } from './exports.ts'
import { type ImportNeeds, importComponents, importRoutes } from './imports.ts'
import { liveRoute } from './live.ts'
import { type LookingNeeds, lookingComponents, lookingRoutes } from './looking.ts'
import { type LatestReadNeeds, latestReadComponents, latestReadRoutes } from './reader-reads.ts'
import { inboxComponents, inboxRoutes } from './reader-inbox.ts'
import { type ReaderNeeds, readerComponents, readerRoutes } from './readers.ts'
import { type QuotaNeeds, quotaComponents, quotaRoutes } from './quotas.ts'
import { reportComponents, reportRoutes } from './reports.ts'
import { sessionComponents, sessionRoutes } from './sessions.ts'
import { type WebhookRouteNeeds, webhookComponents, webhookRoutes } from './webhooks.ts'

/** What the web app needs beyond the public API: signing in, and administering an organization. */
export function webSurface(
  needs: AccountNeeds &
    ReaderNeeds &
    LatestReadNeeds &
    LookingNeeds &
    ImportNeeds &
    QuotaNeeds &
    WebhookRouteNeeds & { authentication: Database },
  live: Live,
  streams: OpenStreams,
): Surface {
  const routes = [
    ...sessionRoutes({ ...needs, db: needs.authentication }),
    ...passwordRoutes(needs),
    ...memberRoutes(needs),
    ...invitationRoutes(needs),
    ...apiKeyRoutes(needs),
    ...readerRoutes(needs),
    ...inboxRoutes(needs),
    ...latestReadRoutes(needs),
    ...webhookRoutes(needs),
    ...lookingRoutes(needs),
    ...reportRoutes(needs),
    ...exportRoutes(needs),
    ...importRoutes(needs),
    ...quotaRoutes(needs),
    liveRoute(live, streams),
  ]
  return { base: '/api/v1', isInternal: true, routes }
}

export const webComponents: readonly Component[] = [
  ...sessionComponents,
  ...accountComponents,
  ...apiKeyComponents,
  ...readerComponents,
  ...inboxComponents,
  ...latestReadComponents,
  ...webhookComponents,
  ...lookingComponents,
  ...reportComponents,
  ...importComponents,
  ...quotaComponents,
] as Component[]
