import type { AccountDeps } from '../../accounts/deps.ts'
import type { Database } from '../../db/database.ts'
import type { Surface } from '../../http/dispatcher-deps.ts'
import type { Component } from '../../http/openapi/response-schema.ts'
import type { AssetLocationDeps } from '../../tracking/recording/asset-at-location.ts'
import { accountExportRoute } from './account-export.ts'
import { accountComponents, invitationRoutes, memberRoutes, passwordRoutes } from './accounts.ts'
import { apiKeyComponents, apiKeyRoutes } from './api-keys.ts'
import { AttentionOut, attentionRoute } from './attention.ts'
import { CodeOut, codesRoute } from './codes.ts'
import { emailConfirmationRoutes } from './email-confirmation.ts'
import { exportRoutes } from './exports.ts'
import { type ImportDeps, importComponents, importRoutes } from './imports.ts'
import { MoveCountOut, moveCountsRoute, movesRoute } from './moves.ts'
import { InventoryOut } from '../shared/inventory.ts'
import { MoveOut } from '../shared/moves.ts'
import { type OverviewDeps, overviewComponents, overviewRoutes } from './overview.ts'
import { type LatestReadDeps, latestReadComponents, latestReadRoutes } from './reader-reads.ts'
import { inboxComponents, inboxRoutes } from './reader-inbox.ts'
import { type ReaderDeps, readerComponents, readerRoutes } from './readers.ts'
import { type QuotaDeps, quotaComponents, quotaRoutes } from './quotas.ts'
import { reportComponents, reportRoutes } from './reports.ts'
import { SavedViewOut, savedViewRoutes } from './saved-views.ts'
import { searchComponents, searchRoute } from './search.ts'
import { sightingsRoute } from './sightings.ts'
import { StayOut, staysRoute } from './stays.ts'
import { sessionComponents, sessionRoutes } from './sessions.ts'
import { type WebhookRouteDeps, webhookComponents, webhookRoutes } from './webhooks.ts'

/** The endpoints that the web app uses in addition to the public API. */
export function sessionSurface(
  deps: AccountDeps &
    ReaderDeps &
    LatestReadDeps &
    OverviewDeps &
    ImportDeps &
    QuotaDeps &
    AssetLocationDeps &
    WebhookRouteDeps & { authentication: Database },
): Surface {
  const routes = [
    ...sessionRoutes({ ...deps, db: deps.authentication }),
    ...passwordRoutes(deps),
    ...emailConfirmationRoutes(deps),
    accountExportRoute(deps),
    ...memberRoutes(deps),
    ...invitationRoutes(deps),
    ...apiKeyRoutes(deps),
    ...readerRoutes(deps),
    ...inboxRoutes(deps),
    ...latestReadRoutes(deps),
    ...webhookRoutes(deps),
    ...overviewRoutes(deps),
    attentionRoute(deps),
    movesRoute(deps),
    moveCountsRoute(deps),
    staysRoute(deps),
    sightingsRoute(deps),
    searchRoute(deps),
    codesRoute(deps),
    ...reportRoutes(deps),
    ...exportRoutes(deps),
    ...importRoutes(deps),
    ...quotaRoutes(deps),
    ...savedViewRoutes(deps),
  ]
  return { base: '/api/v1', isInternal: true, routes }
}

export const sessionComponentsOf: readonly Component[] = [
  ...sessionComponents,
  ...accountComponents,
  ...apiKeyComponents,
  ...readerComponents,
  ...inboxComponents,
  ...latestReadComponents,
  ...webhookComponents,
  ...overviewComponents,
  AttentionOut,
  MoveOut,
  MoveCountOut,
  StayOut,
  InventoryOut,
  ...searchComponents,
  CodeOut,
  ...reportComponents,
  ...importComponents,
  ...quotaComponents,
  SavedViewOut,
] as Component[]
