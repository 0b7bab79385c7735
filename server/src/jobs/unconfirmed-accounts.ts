import { publishRevocations } from '../auth/commands.ts'
import { cutOffOrganization, deleteOrganizationData } from '../backup/organization-data.ts'
import type { Connection } from '../db/create-database.ts'
import type { PubSub } from '../db/pubsub.ts'
import type { Clock } from '../kernel/clock.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import { hasRecords } from '../organizations/organizations.sql.ts'
import { unconfirmedOrganizations } from '../users/members.sql.ts'

const keptMs = 30 * 86_400_000

export interface UnconfirmedAccountsDeps {
  db: Connection
  clock: Clock
  pubsub: Pick<PubSub, 'publishAndWait'>
  config: { mailUrl: string | null }
}

/**
 * Deletes the accounts that were not confirmed within 30 days of the sign-up, with their organizations, unless the
 * organization has another member or holds records. Without mail no account needs to be confirmed.
 */
export async function deleteUnconfirmedAccounts(
  deps: UnconfirmedAccountsDeps,
  url: string,
  onFailure: (orgId: number, error: unknown) => void,
): Promise<void> {
  if (deps.config.mailUrl === null) return
  const { read } = deps.db.background
  const before = instantFromMillis(deps.clock.millis() - keptMs)
  for (const orgId of await unconfirmedOrganizations(read, before)) {
    if (await hasRecords(read, orgId)) continue
    try {
      const cutOff = await cutOffOrganization(url, orgId)
      await publishRevocations(deps.pubsub, cutOff.keys)
      const rest = await deleteOrganizationData(url, orgId)
      await publishRevocations(deps.pubsub, rest.keys)
    } catch (error) {
      onFailure(orgId, error)
    }
  }
}
