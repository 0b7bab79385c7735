import type { Command } from 'commander'
import type { Core } from '../app/core.ts'
import { type Facts, OperatorError, organizationNamed } from '../app/operator.ts'
import { webhookNeeds } from '../app/webhooks.ts'
import { formatMillis } from '../kernel/instant.ts'
import { createOrganization } from '../organizations/commands.ts'
import {
  type OrganizationName,
  findOrganizationsByName,
  findStanding,
  listOrganizations,
} from '../organizations/organizations.sql.ts'
import { lapseOrganization, reinstateOrganization } from '../webhooks/commands.ts'
import { checkLine, onCore, operatorCommand } from './command.ts'
import type { Listing } from './output.ts'

export async function createOrg(core: Core, options: { name: string }): Promise<Facts> {
  const name = checkLine('The name', options.name)
  if ((await findOrganizationsByName(core.db.read, name)).length > 0)
    throw new OperatorError(`An organization called ${JSON.stringify(name)} exists already`)
  const organization = await createOrganization(core, name)
  return { org_id: organization.orgId, name }
}

export async function listOrgs(core: Core): Promise<Listing> {
  const rows: Facts[] = []
  for (const { orgId, name } of await listOrganizations(core.db.read)) {
    const standing = await findStanding(core.db.read, orgId)
    if (standing === null) continue
    const { createdAt, lapsedAt } = standing
    rows.push({ org_id: orgId, name, lapsed: lapsedAt !== null, created_at: formatMillis(createdAt) })
  }
  return { columns: ['org_id', 'name', 'lapsed', 'created_at'], rows, empty: 'No organizations.' }
}

async function setLapse(core: Core, options: { name: string }, isLapsed: boolean): Promise<Facts> {
  const { orgId, name } = await organizationNamed(core, options.name)
  await (isLapsed ? lapseOrganization : reinstateOrganization)(webhookNeeds(core), orgId)
  return { org_id: orgId, name, lapsed: isLapsed }
}

/** The organization that `--org` names, or all of them. */
export async function chosenOrganizations(core: Core, org: string | undefined): Promise<OrganizationName[]> {
  return org === undefined ? listOrganizations(core.db.read) : [await organizationNamed(core, org)]
}

export function addOrgCommands(program: Command): void {
  const org = program.command('org').description('organizations')
  operatorCommand(org, 'list', 'list all organizations').action(onCore(listOrgs))
  operatorCommand(org, 'create', 'make an organization')
    .requiredOption('--name <name>', 'its name')
    .action(onCore(createOrg))
  operatorCommand(org, 'lapse', 'drop the webhook events of an organization from now on; its API goes on')
    .requiredOption('--name <name>', 'its name or id')
    .action(onCore((core, options: { name: string }) => setLapse(core, options, true)))
  operatorCommand(org, 'reinstate', 'deliver the webhook events of an organization again')
    .requiredOption('--name <name>', 'its name or id')
    .action(onCore((core, options: { name: string }) => setLapse(core, options, false)))
}
