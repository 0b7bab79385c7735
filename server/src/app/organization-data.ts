import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { announceRevoked } from '../credentials/commands.ts'
import {
  type RowCounts,
  addCounts,
  cutOffOrganization,
  deleteOrganizationData,
  exportOrganization,
} from '../db/organization-data.ts'
import { now } from '../kernel/clock.ts'
import { formatMillis } from '../kernel/instant.ts'
import { readerChangedTopic } from '../readers/commands.ts'
import { changeTopic } from '../webhooks/commands.ts'
import type { Core } from './core.ts'
import { type Facts, OperatorError, UsageError, organizationNamed } from './operator.ts'

const total = (counts: RowCounts): number => Object.values(counts).reduce((sum, rows) => sum + rows, 0)

/** Writes everything of one organization into a file, without hashes and secrets. */
export async function exportOrg(core: Core, options: { org: string; out: string }): Promise<Facts> {
  const organization = await organizationNamed(core, options.org)
  const path = resolve(options.out)
  if (existsSync(path)) throw new OperatorError(`${path} is there already; an export never overwrites a file`)
  const exportedAt = formatMillis(now(core.clock))
  const tables = await exportOrganization({ url: core.url, path, organization, exportedAt })
  const { orgId, name } = organization
  return { org_id: orgId, name, file: path, exported_at: exportedAt, rows: total(tables), tables }
}

/** Deletes an organization for good: first its keys, sessions and readers end, then every row of it goes. */
export async function deleteOrg(core: Core, options: { org: string; confirm: string }): Promise<Facts> {
  const { orgId, name } = await organizationNamed(core, options.org)
  if (options.confirm !== name)
    throw new UsageError(`--confirm must repeat the name of the organization, ${JSON.stringify(name)}`)
  const { keys, deleted } = await cutOffOrganization(core.url, orgId)
  await announceRevoked(core.wake, keys)
  await core.wake.announce(readerChangedTopic, '')
  const tables = addCounts(deleted, await deleteOrganizationData(core.url, orgId))
  await core.wake.announce(changeTopic, String(orgId))
  return { org_id: orgId, name, deleted: true, rows: total(tables), tables, rows_left: 0 }
}
