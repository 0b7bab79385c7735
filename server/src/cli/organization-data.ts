import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { publishRevocations } from '../auth/commands.ts'
import { deleteAttemptsOf } from '../auth/login-throttle.sql.ts'
import {
  type RowCounts,
  addCounts,
  cutOffOrganization,
  deleteOrganizationData,
  exportOrganization,
} from '../backup/organization-data.ts'
import { now } from '../kernel/clock.ts'
import { formatMillis } from '../kernel/instant.ts'
import { readerChangedTopic } from '../readers/commands.ts'
import { changeTopic } from '../webhooks/commands.ts'
import type { AppContext } from '../app/context.ts'
import { type Facts, OperatorError, UsageError, organizationNamed } from '../app/operator.ts'

const total = (counts: RowCounts): number => Object.values(counts).reduce((sum, rows) => sum + rows, 0)

/** Exports all data of one organization to a file, without hashes and secrets. */
export async function exportOrg(context: AppContext, options: { org: string; out: string }): Promise<Facts> {
  const organization = await organizationNamed(context, options.org)
  const path = resolve(options.out)
  if (existsSync(path)) throw new OperatorError(`${path} already exists; an export never overwrites a file`)
  const exportedAt = formatMillis(now(context.clock))
  const tables = await exportOrganization({ url: context.url, path, organization, exportedAt })
  const { orgId, name } = organization
  return { org_id: orgId, name, file: path, exported_at: exportedAt, rows: total(tables), tables }
}

/**
 * Permanently deletes an organization: first it deletes the members and revokes the keys, sessions and readers, then it
 * deletes all rows.
 */
export async function deleteOrg(context: AppContext, options: { org: string; confirm: string }): Promise<Facts> {
  const { orgId, name } = await organizationNamed(context, options.org)
  if (options.confirm !== name)
    throw new UsageError(`--confirm must repeat the name of the organization, ${JSON.stringify(name)}`)
  const publish = async (keys: readonly string[]): Promise<void> => {
    await publishRevocations(context.pubsub, keys)
    await context.pubsub.publishAndWait(readerChangedTopic, '')
  }
  const cutOff = await cutOffOrganization(context.url, orgId)
  await publish(cutOff.keys)
  const rest = await deleteOrganizationData(context.url, orgId)
  // A session, key or reader that was created while the organization was cut off may be in a cache.
  await publish(rest.keys)
  await deleteAttemptsOf(context.db.global, [...cutOff.emails, ...rest.emails])
  const tables = addCounts(cutOff.deleted, rest.deleted)
  await context.pubsub.publishAndWait(changeTopic, String(orgId))
  return { org_id: orgId, name, deleted: true, rows: total(tables), tables, rows_left: 0 }
}
