import { flag, reference, text } from '../../http/fields.ts'
import { limit, offset } from '../../http/query.ts'
import { type AnyRoute, noContent, ok, route } from '../../http/route.ts'
import { type Field, nullable, optional } from '../../http/schema.ts'
import { type Component, type Wire, component, listOfAll, single } from '../../http/shape.ts'
import { now } from '../../kernel/clock.ts'
import { formatMillis, instantFromMillis, millisOf } from '../../kernel/instant.ts'
import { type ListedAttempt, listAttempts } from '../../webhooks/attempts.sql.ts'
import { type WebhookNeeds, changeWebhook, createWebhook, getWebhook, removeWebhook } from '../../webhooks/commands.ts'
import type { SendTest } from '../../webhooks/test-event.ts'
import { type Webhook, maskSecret, maxUrlLength, sealedFor, urlProblem } from '../../webhooks/webhook.ts'
import { listWebhooks } from '../../webhooks/webhooks.sql.ts'
import { timestamp, whole } from './fields.ts'

const line = text({ min: 1, max: maxUrlLength })

const address: Field<string> = {
  schema: { ...line.schema, format: 'uri' },
  read(value, at, report) {
    const given = line.read(value, at, report)
    const problem = given === undefined ? null : urlProblem(at, given)
    if (problem === null) return given
    report.problems.push(problem)
    return undefined
  },
}

const createShape = { url: address, enabled: optional(flag) }
const patchShape = { url: optional(address), enabled: optional(flag) }

/** How far back attempts are shown. */
const shownMs = 7 * 86_400_000

const webhookShape = {
  id: reference,
  url: line,
  enabled: flag,
  secret_masked: line,
  created_at: timestamp,
  updated_at: timestamp,
}

const webhookExample: Wire<typeof webhookShape> = {
  id: 6620093347718820,
  url: 'https://hooks.example.com/lastseen',
  enabled: true,
  secret_masked: 'whsec_••••••••9f3A',
  created_at: '2026-05-04T08:00:00.000Z',
  updated_at: '2026-05-04T08:00:00.000Z',
}

const WebhookOut = component('Webhook', webhookShape, webhookExample)

const NewWebhookOut = component(
  'NewWebhook',
  { ...webhookShape, secret: line },
  { ...webhookExample, secret: 'whsec_…' },
)

/** The status, or why there was none. */
const outcome = { status: nullable(whole), error: nullable(text({ max: 1024 })), duration_ms: whole }

const WebhookTestOut = component('WebhookTest', outcome, { status: 200, error: null, duration_ms: 41 })

const WebhookAttemptOut = component(
  'WebhookAttempt',
  {
    delivery_id: { schema: { type: 'string', format: 'uuid' }, read: String },
    event: line,
    attempt: whole,
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

const presentAttempt = (one: ListedAttempt): Wire<(typeof WebhookAttemptOut)['shape']> => ({
  delivery_id: one.deliveryId,
  event: one.event,
  attempt: one.attempt,
  attempted_at: formatMillis(one.attemptedAt),
  status: one.status,
  error: one.error,
  duration_ms: one.durationMs,
})

export interface WebhookRouteNeeds extends WebhookNeeds {
  sendTest: SendTest
}

/** The webhook of an organization; for its admins, not part of the public description. */
export function webhookRoutes(needs: WebhookRouteNeeds): AnyRoute[] {
  const common = { group: 'Webhooks', access: 'session', scopes: ['webhooks:admin'] } as const
  const success = { status: 200, description: 'The webhook', schema: single(WebhookOut) } as const
  const one = { ...common, ids: ['webhook_id'] as const, path: '/webhooks/{webhook_id}' }
  const own = (call: { caller: { orgId: number }; params: { webhook_id: number } }): Promise<Webhook> =>
    getWebhook(needs, call.caller.orgId, call.params.webhook_id)
  const present = (orgId: number, webhook: Webhook): Wire<typeof webhookShape> => ({
    id: webhook.id,
    url: webhook.url,
    enabled: webhook.isEnabled,
    secret_masked: maskSecret(needs.seal.open(webhook.sealedSecret, sealedFor(orgId, webhook.id))),
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
      success: { status: 200, description: 'The webhooks', schema: listOfAll(WebhookOut) },
      async handle({ caller: { orgId }, query }) {
        const page = await listWebhooks(needs.db.read, orgId, query)
        return ok({ data: page.rows.map((row) => present(orgId, row)), ...query, total_count: page.total })
      },
    }),
    route({
      ...common,
      id: 'webhooks.create',
      method: 'POST',
      path: '/webhooks',
      summary: 'Register the webhook; its secret is shown this once',
      body: { mediaType: 'application/json', name: 'WebhookCreate', shape: createShape, example: {} },
      success: { status: 201, description: 'The webhook', schema: single(NewWebhookOut) },
      refusals: [409],
      async handle({ caller: { orgId }, body }) {
        const made = await createWebhook(needs, orgId, { url: body.url, isEnabled: body.enabled ?? true })
        const headers = { Location: `/api/v1/webhooks/${made.webhook.id}` }
        const data: Wire<(typeof NewWebhookOut)['shape']> = { ...present(orgId, made.webhook), secret: made.secret }
        return { status: 201, headers, body: { data } }
      },
    }),
    route({
      ...one,
      id: 'webhooks.get',
      method: 'GET',
      summary: 'Read the webhook',
      success,
      async handle(call) {
        return ok({ data: present(call.caller.orgId, await own(call)) })
      },
    }),
    route({
      ...one,
      id: 'webhooks.patch',
      method: 'PATCH',
      summary: 'Change the address, or switch delivery on or off',
      async exists(call) {
        await own(call)
      },
      body: { mediaType: 'application/merge-patch+json', name: 'WebhookPatch', shape: patchShape, example: {} },
      success,
      async handle({ caller: { orgId }, params, body }) {
        const change = { url: body.url, isEnabled: body.enabled }
        return ok({ data: present(orgId, await changeWebhook(needs, orgId, params.webhook_id, change)) })
      },
    }),
    route({
      ...one,
      id: 'webhooks.delete',
      method: 'DELETE',
      summary: 'Remove the webhook',
      success: { status: 204, description: 'Removed' },
      async handle({ caller, params }) {
        await removeWebhook(needs, caller.orgId, params.webhook_id)
        return noContent
      },
    }),
    route({
      ...one,
      id: 'webhooks.test',
      method: 'POST',
      path: '/webhooks/{webhook_id}/test',
      summary: 'Send a test event',
      success: { status: 200, description: 'What the endpoint answered', schema: single(WebhookTestOut) },
      refusals: [429],
      async handle(call) {
        const { status, error, durationMs } = await needs.sendTest(call.caller.orgId, await own(call))
        return ok({ data: { status, error, duration_ms: durationMs } })
      },
    }),
    route({
      ...one,
      id: 'webhooks.attempts',
      method: 'GET',
      path: '/webhooks/{webhook_id}/attempts',
      summary: 'Attempts of the last seven days, newest first',
      query: { parameters: { limit, offset } },
      success: { status: 200, description: 'A page of attempts', schema: listOfAll(WebhookAttemptOut) },
      async handle(call) {
        const { id } = await own(call)
        const since = instantFromMillis(millisOf(now(needs.clock)) - shownMs)
        const page = await listAttempts(needs.db.read, call.caller.orgId, id, since, call.query)
        return ok({ data: page.rows.map(presentAttempt), ...call.query, total_count: page.total })
      },
    }),
  ]
}
