import { deleteImportJob } from '../bulk/import-service.ts'
import { importsBefore } from '../bulk/imports.sql.ts'
import { deleteRevokedCredentials } from '../auth/credentials.sql.ts'
import { deleteExpiredFamilies, deleteRevokedFamilies } from '../auth/refresh-token-families.sql.ts'
import { withAdvisoryLock } from '../db/advisory-lock.ts'
import { dropPartition, historyTable, makeMonths, partitionsBefore } from '../db/schema/partitions.ts'
import type { Connection } from '../db/create-database.ts'
import type { Tx } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import { allOrganizations } from '../organizations/organizations.sql.ts'
import { deleteUnknownAntennasBefore, deleteUnknownTopicsBefore } from '../readers/unknown.sql.ts'
import { deleteMinutesBefore, deleteMovesBefore } from '../tracking/retention.sql.ts'
import { deleteNotesBefore } from '../tracking/sighting-notes.sql.ts'
import { deleteUnknownTagsBefore } from '../tracking/unknown-tags.sql.ts'
import { deleteExpiredInvitations } from '../users/invitations.sql.ts'
import { deleteExpiredResets } from '../users/resets.sql.ts'
import { deleteAttemptsBefore } from '../webhooks/attempts.sql.ts'

export interface RetentionDeps {
  db: Connection
  clock: Clock
  config: { retentionDays: number }
}

const dayMs = 86_400_000
const lockKey = 6_170_504
const attemptDays = 7
const importDays = 1
/** How long revoked refresh token families are kept. */
const revokedFamilyDays = 1
const revokedCredentialDays = 30
/** How long unknown tags, antennas and topics are kept after they were last seen. */
const unknownDays = 30

/**
 * Creates the partitions of the coming months and deletes data older than the retention period: first it removes the
 * minutes from the histories and their counts, in batches, then it drops the partition. Incoming reads never wait for it.
 */
export function keepRetention(deps: RetentionDeps, url: string): Promise<string[]> {
  return withAdvisoryLock(url, lockKey, () => deleteOldData(deps, url))
}

async function deleteOldData(deps: RetentionDeps, url: string): Promise<string[]> {
  const { clock, config } = deps
  const db = deps.db.background
  const nowMs = clock.millis()
  await makeMonths(url, nowMs, config.retentionDays)
  const retentionStartMs = nowMs - config.retentionDays * dayMs
  const expired = await partitionsBefore(url, historyTable, retentionStartMs)
  const last = expired.at(-1)
  await deleteExpiredResets(db.global, instantFromMillis(nowMs))
  await deleteUnknownTopicsBefore(db.global, instantFromMillis(nowMs - unknownDays * dayMs))
  for (const orgId of await allOrganizations(db.read)) {
    const before = instantFromMillis(retentionStartMs)
    while (await db.withTenant(orgId, (tx) => deleteMovesBefore(tx, orgId, before)));
    while (await db.withTenant(orgId, (tx) => deleteNotesBefore(tx, orgId, before)));
    const attemptsBefore = instantFromMillis(nowMs - attemptDays * dayMs)
    while (await db.withTenant(orgId, (tx) => deleteAttemptsBefore(tx, orgId, attemptsBefore)));
    await db.withTenant(orgId, (tx) => deleteExpired(tx, orgId, nowMs, config.retentionDays))
    for (const id of await importsBefore(db.read, orgId, instantFromMillis(nowMs - importDays * dayMs)))
      await db.withTenant(orgId, (tx) => deleteImportJob(tx, orgId, id))
    if (last === undefined) continue
    while (await db.withTenant(orgId, (tx) => deleteMinutesBefore(tx, orgId, instantFromMillis(last.toMs))));
  }
  for (const { name } of expired) await dropPartition(url, name)
  return expired.map(({ name }) => name)
}

/** Deletes expired data that is small enough for one transaction. */
async function deleteExpired(tx: Tx, orgId: number, nowMs: number, retentionDays: number): Promise<void> {
  const daysAgo = (days: number) => instantFromMillis(nowMs - days * dayMs)
  await deleteExpiredFamilies(tx, orgId, daysAgo(0))
  await deleteRevokedFamilies(tx, orgId, daysAgo(revokedFamilyDays))
  await deleteRevokedCredentials(tx, orgId, daysAgo(revokedCredentialDays))
  await deleteExpiredInvitations(tx, orgId, daysAgo(0))
  // The last read of an unknown tag may become a sighting, so it must not be older than the history.
  await deleteUnknownTagsBefore(tx, orgId, daysAgo(Math.min(unknownDays, retentionDays)))
  await deleteUnknownAntennasBefore(tx, orgId, daysAgo(unknownDays))
}
