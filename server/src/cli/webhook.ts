import type { Command } from 'commander'
import type { AppContext } from '../app/context.ts'
import { type Facts, OperatorError, UsageError, organizationNamed } from '../app/operator.ts'
import { webhookDeps } from '../app/webhooks.ts'
import { formatMillis } from '../kernel/instant.ts'
import { changeWebhook, createWebhook, removeWebhook } from '../webhooks/commands.ts'
import { type Webhook, maskSecret, secretContext, urlProblem } from '../webhooks/webhook.ts'
import { findWebhook } from '../webhooks/webhooks.sql.ts'
import { withContext, operatorCommand } from './command.ts'
import { chosenOrganizations } from './org.ts'
import type { Listing } from './output.ts'

function checkUrl(url: string): string {
  const problem = urlProblem('--url', url)
  if (problem !== null) throw new UsageError(problem.message)
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

async function ownWebhook(context: AppContext, org: string): Promise<{ orgId: number; webhook: Webhook }> {
  const { orgId, name } = await organizationNamed(context, org)
  const webhook = await findWebhook(context.db.read, orgId)
  if (webhook === null) throw new OperatorError(`${name} has no webhook`)
  return { orgId, webhook }
}

const masked = (context: AppContext, orgId: number, webhook: Webhook): Facts => ({
  secret_masked: maskSecret(
    webhookDeps(context).secretBox.decrypt(webhook.encryptedSecret, secretContext(orgId, webhook.id)),
  ),
})

async function createWebhookIn(
  context: AppContext,
  options: { org: string; url: string; disabled?: boolean },
): Promise<Facts> {
  const draft = { url: checkUrl(options.url), isEnabled: options.disabled !== true }
  const { orgId } = await organizationNamed(context, options.org)
  const { webhook, secret } = await createWebhook(webhookDeps(context), orgId, draft)
  return factsOf(orgId, webhook, { secret })
}

export async function listWebhooksIn(context: AppContext, options: { org?: string }): Promise<Listing> {
  const rows: Facts[] = []
  for (const { orgId, name } of await chosenOrganizations(context, options.org)) {
    const webhook = await findWebhook(context.db.read, orgId)
    if (webhook !== null) rows.push({ ...factsOf(orgId, webhook, {}), org: name })
  }
  return { columns: ['webhook_id', 'org', 'url', 'enabled', 'updated_at'], rows, empty: 'No webhooks.' }
}

async function showWebhook(context: AppContext, options: { org: string }): Promise<Facts> {
  const { orgId, webhook } = await ownWebhook(context, options.org)
  return factsOf(orgId, webhook, masked(context, orgId, webhook))
}

async function updateWebhookIn(
  context: AppContext,
  options: { org: string; url?: string; enable?: boolean; disable?: boolean },
): Promise<Facts> {
  if (options.enable === true && options.disable === true)
    throw new UsageError('--enable and --disable are mutually exclusive')
  const change = {
    url: options.url === undefined ? undefined : checkUrl(options.url),
    isEnabled: options.enable === true ? true : options.disable === true ? false : undefined,
  }
  if (change.url === undefined && change.isEnabled === undefined)
    throw new UsageError('Specify at least one change: --url, --enable or --disable')
  const { orgId, webhook } = await ownWebhook(context, options.org)
  const changed = await changeWebhook(webhookDeps(context), orgId, webhook.id, change)
  return factsOf(orgId, changed, masked(context, orgId, changed))
}

async function deleteWebhookIn(context: AppContext, options: { org: string }): Promise<Facts> {
  const { orgId, webhook } = await ownWebhook(context, options.org)
  await removeWebhook(webhookDeps(context), orgId, webhook.id)
  return { webhook_id: webhook.id, org_id: orgId, deleted: true }
}

async function testWebhook(context: AppContext, options: { org: string }): Promise<Facts> {
  const { orgId, webhook } = await ownWebhook(context, options.org)
  const { status, error, durationMs } = await webhookDeps(context).sendTest(orgId, webhook)
  return { webhook_id: webhook.id, org_id: orgId, status, error, duration_ms: durationMs }
}

const orgOption = ['--org <name>', 'the organization, by name or id'] as const

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('endpoints that receive moves, one for each organization')
  operatorCommand(webhook, 'list', 'list webhooks')
    .option('--org <name>', 'only the webhook of this organization, by name or id')
    .action(withContext(listWebhooksIn))
  operatorCommand(webhook, 'show', 'show the webhook of an organization')
    .requiredOption(...orgOption)
    .action(withContext(showWebhook))
  operatorCommand(webhook, 'create', 'create a webhook; its secret is printed only once')
    .requiredOption(...orgOption)
    .requiredOption('--url <address>', 'an https URL')
    .option('--disabled', 'create it without enabling delivery')
    .action(withContext(createWebhookIn))
  operatorCommand(webhook, 'update', 'update a webhook')
    .requiredOption(...orgOption)
    .option('--url <address>', 'an https URL')
    .option('--enable', 'deliver events from now on')
    .option('--disable', 'drop events from now on')
    .action(withContext(updateWebhookIn))
  operatorCommand(webhook, 'delete', 'delete a webhook')
    .requiredOption(...orgOption)
    .action(withContext(deleteWebhookIn))
  operatorCommand(webhook, 'test', 'send a test event')
    .requiredOption(...orgOption)
    .action(withContext(testWebhook))
}
