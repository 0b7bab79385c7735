import { type Command, InvalidArgumentError } from 'commander'
import type { AppContext } from '../app/context.ts'
import { deleteOrg, exportOrg } from './organization-data.ts'
import { type Facts, OperatorError, organizationNamed } from '../app/operator.ts'
import { webhookDeps } from '../app/webhooks.ts'
import { formatMillis } from '../kernel/instant.ts'
import { type QuotaName, maxQuota, quotaNames } from '../kernel/quota.ts'
import { createOrganization } from '../organizations/commands.ts'
import {
  type OrganizationName,
  findOrganizationsByName,
  findStanding,
  listOrganizations,
} from '../organizations/organizations.sql.ts'
import { lapseOrganization, reinstateOrganization } from '../webhooks/commands.ts'
import { checkLine, withContext, operatorCommand } from './command.ts'
import type { Listing } from './output.ts'

type QuotaChange = Partial<Record<QuotaName, number | null>>

/** Parses `assets=5000`, or `assets=default` for the default quota. */
function parseQuota(text: string, previous: QuotaChange = {}): QuotaChange {
  const [, name = '', value = ''] = /^([a-z_]+)=(\d{1,16}|default)$/.exec(text) ?? []
  const quota = quotaNames.find((one) => one === name)
  if (quota === undefined || Number(value) > maxQuota)
    throw new InvalidArgumentError(
      `It must be a quota and a number up to ${maxQuota} or "default", such as assets=5000. Quotas are ${quotaNames.join(', ')}.`,
    )
  return { ...previous, [quota]: value === 'default' ? null : Number(value) }
}

/** Lists the quotas of the organization and their use; with `--set` it changes quotas first. */
export async function quotasOf(context: AppContext, options: { org: string; set?: QuotaChange }): Promise<Listing> {
  const { orgId } = await organizationNamed(context, options.org)
  if (options.set !== undefined) await context.quotas.set(orgId, options.set)
  const rows = (await context.quotas.list(orgId)).map(({ name, used, limit, isOwn }) => ({
    org_id: orgId,
    quota: name,
    used,
    limit,
    source: isOwn ? 'organization' : 'default',
  }))
  return { columns: ['quota', 'used', 'limit', 'source'], rows, empty: 'No quotas.' }
}

export async function createOrg(context: AppContext, options: { name: string }): Promise<Facts> {
  const name = checkLine('The name', options.name)
  if ((await findOrganizationsByName(context.db.read, name)).length > 0)
    throw new OperatorError(`An organization called ${JSON.stringify(name)} already exists`)
  const organization = await createOrganization(context, name)
  return { org_id: organization.orgId, name }
}

export async function listOrgs(context: AppContext): Promise<Listing> {
  const rows: Facts[] = []
  for (const { orgId, name } of await listOrganizations(context.db.read)) {
    const standing = await findStanding(context.db.read, orgId)
    if (standing === null) continue
    const { createdAt, lapsedAt } = standing
    rows.push({ org_id: orgId, name, lapsed: lapsedAt !== null, created_at: formatMillis(createdAt) })
  }
  return { columns: ['org_id', 'name', 'lapsed', 'created_at'], rows, empty: 'No organizations.' }
}

async function setLapse(context: AppContext, options: { name: string }, isLapsed: boolean): Promise<Facts> {
  const { orgId, name } = await organizationNamed(context, options.name)
  await (isLapsed ? lapseOrganization : reinstateOrganization)(webhookDeps(context), orgId)
  return { org_id: orgId, name, lapsed: isLapsed }
}

/** The organization that `--org` names, or all of them. */
export async function chosenOrganizations(context: AppContext, org: string | undefined): Promise<OrganizationName[]> {
  return org === undefined ? listOrganizations(context.db.read) : [await organizationNamed(context, org)]
}

export function addOrgCommands(program: Command): void {
  const org = program.command('org').description('organizations')
  operatorCommand(org, 'list', 'list all organizations').action(withContext(listOrgs))
  operatorCommand(org, 'create', 'create an organization')
    .requiredOption('--name <name>', 'its name')
    .action(withContext(createOrg))
  operatorCommand(org, 'lapse', 'drop the webhook events of an organization from now on; its API stays available')
    .requiredOption('--name <name>', 'its name or id')
    .action(withContext((context, options: { name: string }) => setLapse(context, options, true)))
  operatorCommand(org, 'reinstate', 'deliver the webhook events of an organization again')
    .requiredOption('--name <name>', 'its name or id')
    .action(withContext((context, options: { name: string }) => setLapse(context, options, false)))
  operatorCommand(org, 'quota', 'show or set the quotas of an organization')
    .argument('<org>', 'its name or id')
    .option(
      '--set <quota=number>',
      'set a quota for this organization; "default" restores the default; repeatable',
      parseQuota,
    )
    .action((org: string, options: { set?: QuotaChange }, command: Command) =>
      withContext(quotasOf)({ ...options, org }, command),
    )
  operatorCommand(org, 'export', 'export all data of an organization to a file (gzipped NDJSON)')
    .argument('<org>', 'its name or id')
    .requiredOption('--out <file>', 'a file that does not exist yet')
    .action((org: string, options: { out: string }, command: Command) =>
      withContext(exportOrg)({ ...options, org }, command),
    )
  operatorCommand(org, 'delete', 'permanently delete an organization and all its data')
    .argument('<org>', 'its name or id')
    .requiredOption('--confirm <name>', 'its name again, as confirmation')
    .action((org: string, options: { confirm: string }, command: Command) =>
      withContext(deleteOrg)({ ...options, org }, command),
    )
}
