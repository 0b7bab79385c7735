import { formatMillis } from '../kernel/instant.ts'
import { changeWebhook, createWebhook, removeWebhook } from '../webhooks/commands.ts'
import { type Webhook, maskSecret, sealedFor, urlProblem } from '../webhooks/webhook.ts'
import { findWebhook } from '../webhooks/webhooks.sql.ts'
import { type Facts, OperatorError, organizationNamed } from './admin.ts'
import type { Core } from './core.ts'
import { webhookNeeds } from './webhooks.ts'

function checkUrl(url: string): string {
  const problem = urlProblem('--url', url)
  if (problem !== null) throw new OperatorError(problem.message)
  return url
}

const factsOf = (orgId: number, webhook: Webhook, secret: Facts): Facts => ({
  webhook_id: webhook.id,
  org_id: orgId,
  url: webhook.url,
  enabled: webhook.isEnabled,
  ...secret,
  created_at: formatMillis(webhook.createdAt),
  updated_at: formatMillis(webhook.updatedAt),
})

async function ownWebhook(core: Core, org: string): Promise<{ orgId: number; webhook: Webhook }> {
  const { orgId, name } = await organizationNamed(core, org)
  const webhook = await findWebhook(core.db.read, orgId)
  if (webhook === null) throw new OperatorError(`${name} has no webhook`)
  return { orgId, webhook }
}

const masked = (core: Core, orgId: number, webhook: Webhook): Facts => ({
  secret_masked: maskSecret(webhookNeeds(core).seal.open(webhook.sealedSecret, sealedFor(orgId, webhook.id))),
})

export async function createWebhookIn(
  core: Core,
  options: { org: string; url: string; disabled?: boolean },
): Promise<Facts> {
  const { orgId } = await organizationNamed(core, options.org)
  const draft = { url: checkUrl(options.url), isEnabled: options.disabled !== true }
  const { webhook, secret } = await createWebhook(webhookNeeds(core), orgId, draft)
  return factsOf(orgId, webhook, { secret })
}

export async function showWebhook(core: Core, options: { org: string }): Promise<Facts> {
  const { orgId, webhook } = await ownWebhook(core, options.org)
  return factsOf(orgId, webhook, masked(core, orgId, webhook))
}

export async function updateWebhookIn(
  core: Core,
  options: { org: string; url?: string; enable?: boolean; disable?: boolean },
): Promise<Facts> {
  const { orgId, webhook } = await ownWebhook(core, options.org)
  if (options.enable === true && options.disable === true)
    throw new OperatorError('--enable and --disable contradict each other')
  const change = {
    url: options.url === undefined ? undefined : checkUrl(options.url),
    isEnabled: options.enable === true ? true : options.disable === true ? false : undefined,
  }
  if (change.url === undefined && change.isEnabled === undefined)
    throw new OperatorError('Say what to change: --url, --enable or --disable')
  const changed = await changeWebhook(webhookNeeds(core), orgId, webhook.id, change)
  return factsOf(orgId, changed, masked(core, orgId, changed))
}

export async function deleteWebhookIn(core: Core, options: { org: string }): Promise<Facts> {
  const { orgId, webhook } = await ownWebhook(core, options.org)
  await removeWebhook(webhookNeeds(core), orgId, webhook.id)
  return { webhook_id: webhook.id, org_id: orgId, deleted: true }
}

export async function testWebhook(core: Core, options: { org: string }): Promise<Facts> {
  const { orgId, webhook } = await ownWebhook(core, options.org)
  const { status, error, durationMs } = await webhookNeeds(core).sendTest(orgId, webhook)
  return { webhook_id: webhook.id, org_id: orgId, status, error, duration_ms: durationMs }
}
