import type { AccountDeps } from '../../accounts/deps.ts'
import { assertEmailConfirmed } from '../../accounts/email-confirmation.ts'
import { boolean, id, text } from '../../http/validation/fields.ts'
import { limit, offset } from '../../http/validation/parameters.ts'
import { type AnyRoute, noContent, ok, route } from '../../http/route.ts'
import { type Field, nullable, optional } from '../../http/validation/schema.ts'
import { type Component, type Output, component, pageOf, envelope } from '../../http/openapi/response-schema.ts'
import { now } from '../../kernel/clock.ts'
import { formatMillis, instantFromMillis, millisOf } from '../../kernel/instant.ts'
import { type ListedAttempt, failingSince, listAttempts } from '../../webhooks/attempts.sql.ts'
import { type WebhookDeps, changeWebhook, createWebhook, getWebhook, removeWebhook } from '../../webhooks/commands.ts'
import type { SendTest } from '../../webhooks/test-event.ts'
import { type Webhook, maskSecret, maxUrlLength, secretContext, urlProblem } from '../../webhooks/webhook.ts'
import { listWebhooks } from '../../webhooks/webhooks.sql.ts'
import { timestamp } from '../shared/wire.ts'
import { integer, formatNullable } from './fields.ts'

const singleLine = text({ min: 1, max: maxUrlLength })

const address: Field<string> = {
  schema: { ...singleLine.schema, format: 'uri' },
  parse(value, path, context) {
    const url = singleLine.parse(value, path, context)
    const problem = url === undefined ? null : urlProblem(path, url)
    if (problem === null) return url
    context.problems.push(problem)
    return undefined
  },
}

const createShape = { url: address, enabled: optional(boolean) }
const patchShape = { url: optional(address), enabled: optional(boolean) }

/** The age up to which attempts are listed. */
const maxListedAgeMs = 7 * 86_400_000

const webhookShape = {
  id: id,
  url: singleLine,
  enabled: boolean,
  secret_masked: singleLine,
  failing_since: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
}

const webhookExample: Output<typeof webhookShape> = {
  id: 6620093347718820,
  url: 'https://hooks.example.com/lastseen',
  enabled: true,
  secret_masked: 'whsec_••••••••9f3A',
  failing_since: null,
  created_at: '2026-05-04T08:00:00.000Z',
  updated_at: '2026-05-04T08:00:00.000Z',
}

const WebhookOut = component('Webhook', webhookShape, webhookExample)

const NewWebhookOut = component(
  'NewWebhook',
  { ...webhookShape, secret: singleLine },
  { ...webhookExample, secret: 'whsec_…' },
)

/** The HTTP status, or the reason why there was no response. */
const outcome = { status: nullable(integer), error: nullable(text({ max: 1024 })), duration_ms: integer }

const WebhookTestOut = component('WebhookTest', outcome, { status: 200, error: null, duration_ms: 41 })

const WebhookAttemptOut = component(
  'WebhookAttempt',
  {
    delivery_id: { schema: { type: 'string', format: 'uuid' }, parse: String },
    event: singleLine,
    attempt: integer,
    attempted_at: timestamp,
    ...outcome,
  },
  {
    delivery_id: '0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11',
    event: 'asset.moved',
    attempt: 1,
    attempted_at: '2026-05-04T08:15:02.120Z',
    status: 200,
    error: null,
    duration_ms: 41,
  },
)

export const webhookComponents = [WebhookOut, NewWebhookOut, WebhookTestOut, WebhookAttemptOut] as Component[]

const presentAttempt = (attempt: ListedAttempt): Output<(typeof WebhookAttemptOut)['shape']> => ({
  delivery_id: attempt.deliveryId,
  event: attempt.event,
  attempt: attempt.attempt,
  attempted_at: formatMillis(attempt.attemptedAt),
  status: attempt.status,
  error: attempt.error,
  duration_ms: attempt.durationMs,
})

export interface WebhookRouteDeps extends WebhookDeps, Pick<AccountDeps, 'mailer'> {
  sendTest: SendTest
}

/** The webhook of an organization, for its admins. Not part of the public OpenAPI documents. */
export function webhookRoutes(deps: WebhookRouteDeps): AnyRoute[] {
  const common = { group: 'Webhooks', access: 'session', scopes: ['webhooks:admin'] } as const
  const success = { status: 200, description: 'The webhook', schema: envelope(WebhookOut) } as const
  const item = { ...common, ids: ['webhook_id'] as const, path: '/webhooks/{webhook_id}' }
  const webhookOf = (context: { principal: { orgId: number }; params: { webhook_id: number } }): Promise<Webhook> =>
    getWebhook(deps, context.principal.orgId, context.params.webhook_id)
  const present = async (orgId: number, webhook: Webhook): Promise<Output<typeof webhookShape>> => ({
    id: webhook.id,
    url: webhook.url,
    enabled: webhook.isEnabled,
    secret_masked: maskSecret(deps.secretBox.decrypt(webhook.encryptedSecret, secretContext(orgId, webhook.id))),
    failing_since: formatNullable(await failingSince(deps.db.read, orgId, webhook.id)),
    created_at: formatMillis(webhook.createdAt),
    updated_at: formatMillis(webhook.updatedAt),
  })

  return [
    route({
      ...common,
      id: 'webhooks.list',
      method: 'GET',
      path: '/webhooks',
      summary: 'List webhooks; there is at most one',
      query: { parameters: { limit, offset } },
      success: { status: 200, description: 'The webhooks', schema: pageOf(WebhookOut) },
      async handle({ principal: { orgId }, query }) {
        const page = await listWebhooks(deps.db.read, orgId, query)
        const data = await Promise.all(page.rows.map((row) => present(orgId, row)))
        return ok({ data, ...query, total_count: page.total })
      },
    }),
    route({
      ...common,
      id: 'webhooks.create',
      method: 'POST',
      path: '/webhooks',
      summary: 'Create the webhook; its secret is shown only once',
      body: { mediaType: 'application/json', name: 'WebhookCreate', shape: createShape, example: {} },
      success: { status: 201, description: 'The webhook', schema: envelope(NewWebhookOut) },
      errorStatuses: [409],
      async handle({ principal: { orgId, subject }, body }) {
        await assertEmailConfirmed(deps, Number(subject))
        const newWebhook = await createWebhook(deps, orgId, { url: body.url, isEnabled: body.enabled ?? true })
        const headers = { Location: `/api/v1/webhooks/${newWebhook.webhook.id}` }
        const data: Output<(typeof NewWebhookOut)['shape']> = {
          ...(await present(orgId, newWebhook.webhook)),
          secret: newWebhook.secret,
        }
        return { status: 201, headers, body: { data } }
      },
    }),
    route({
      ...item,
      id: 'webhooks.get',
      method: 'GET',
      summary: 'Read the webhook',
      success,
      async handle(context) {
        return ok({ data: await present(context.principal.orgId, await webhookOf(context)) })
      },
    }),
    route({
      ...item,
      id: 'webhooks.patch',
      method: 'PATCH',
      summary: 'Change the URL, or enable or disable delivery',
      async ensureExists(context) {
        await webhookOf(context)
      },
      body: { mediaType: 'application/merge-patch+json', name: 'WebhookPatch', shape: patchShape, example: {} },
      success,
      async handle({ principal: { orgId }, params, body }) {
        const change = { url: body.url, isEnabled: body.enabled }
        return ok({ data: await present(orgId, await changeWebhook(deps, orgId, params.webhook_id, change)) })
      },
    }),
    route({
      ...item,
      id: 'webhooks.delete',
      method: 'DELETE',
      summary: 'Delete the webhook',
      success: { status: 204, description: 'Deleted' },
      async handle({ principal, params }) {
        await removeWebhook(deps, principal.orgId, params.webhook_id)
        return noContent
      },
    }),
    route({
      ...item,
      id: 'webhooks.test',
      method: 'POST',
      path: '/webhooks/{webhook_id}/test',
      summary: 'Send a test event',
      success: { status: 200, description: 'The response of the endpoint', schema: envelope(WebhookTestOut) },
      errorStatuses: [429],
      async handle(context) {
        const { status, error, durationMs } = await deps.sendTest(context.principal.orgId, await webhookOf(context))
        return ok({ data: { status, error, duration_ms: durationMs } })
      },
    }),
    route({
      ...item,
      id: 'webhooks.attempts',
      method: 'GET',
      path: '/webhooks/{webhook_id}/attempts',
      summary: 'List the delivery attempts of the last seven days, newest first',
      query: { parameters: { limit, offset } },
      success: { status: 200, description: 'A page of attempts', schema: pageOf(WebhookAttemptOut) },
      async handle(context) {
        const { id } = await webhookOf(context)
        const since = instantFromMillis(millisOf(now(deps.clock)) - maxListedAgeMs)
        const { orgId } = context.principal
        const page = await listAttempts(deps.db.searches(orgId), orgId, id, since, context.query)
        return ok({ data: page.rows.map(presentAttempt), ...context.query, total_count: page.total })
      },
    }),
  ]
}
