import { deleteImportJob } from '../bulk/import-service.ts'
import { deleteTrimmedImportsBefore, importsBefore } from '../bulk/imports.sql.ts'
import { deleteRevokedCredentials } from '../auth/credentials.sql.ts'
import { deleteExpiredFamilies, deleteRevokedFamilies } from '../auth/refresh-token-families.sql.ts'
import { withAdvisoryLock } from '../db/advisory-lock.ts'
import { withCustomPlan } from '../db/plan-cache.ts'
import { dropPartition, historyTable, makeMonths, partitionsBefore } from '../db/schema/partitions.ts'
import type { Database, Tx } from '../db/database.ts'
import { type Instant, instantFromMillis } from '../kernel/instant.ts'
import { allOrganizations } from '../organizations/organizations.sql.ts'
import { deleteUnknownAntennasBefore, deleteUnknownTopicsBefore } from '../readers/unknown.sql.ts'
import { deleteDeparturesBefore, deleteMinutesBefore, deleteMovesBefore } from '../tracking/retention.sql.ts'
import { deleteNotesBefore } from '../tracking/sighting-notes.sql.ts'
import { deleteUnknownTagsBefore } from '../tracking/unknown-tags.sql.ts'
import { deleteExpiredInvitations } from '../users/invitations.sql.ts'
import { deleteExpiredResets } from '../users/resets.sql.ts'
import { deleteAttemptsBefore } from '../webhooks/attempts.sql.ts'
import { type UnconfirmedAccountsDeps, deleteUnconfirmedAccounts } from './unconfirmed-accounts.ts'

export interface RetentionDeps extends UnconfirmedAccountsDeps {
  config: { retentionDays: number; mailUrl: string | null }
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

/** Called when the data of one organization could not be deleted. */
type OnFailure = (orgId: number, error: unknown) => void

const rethrow: OnFailure = (_orgId, error) => {
  throw error
}

/**
 * Creates the partitions of the coming months and deletes data older than the retention period: first it removes the
 * minutes from the histories and their counts, in batches, then it drops the partition. Incoming reads never wait for it.
 * When `onFailure` does not throw, the job continues with the next organization. Partitions are dropped only when the
 * minutes of every organization are removed.
 */
export function keepRetention(deps: RetentionDeps, url: string, onFailure = rethrow): Promise<string[]> {
  return withAdvisoryLock(url, lockKey, () => deleteOldData(deps, url, onFailure))
}

async function deleteOldData(deps: RetentionDeps, url: string, onFailure: OnFailure): Promise<string[]> {
  const { clock, config } = deps
  const db = deps.db.background
  const nowMs = clock.millis()
  await makeMonths(url, nowMs, config.retentionDays)
  const retentionStartMs = nowMs - config.retentionDays * dayMs
  const expired = await partitionsBefore(url, historyTable, retentionStartMs)
  const last = expired.at(-1)
  await deleteExpiredResets(db.global, instantFromMillis(nowMs))
  await deleteUnknownTopicsBefore(db.global, instantFromMillis(nowMs - unknownDays * dayMs))
  await deleteUnconfirmedAccounts(deps, url, onFailure)
  let areMinutesRemoved = true
  for (const orgId of await allOrganizations(db.read)) {
    try {
      await deleteExpired(db, orgId, nowMs, config.retentionDays)
    } catch (error) {
      onFailure(orgId, error)
    }
    if (last === undefined) continue
    try {
      while (await db.withTenant(orgId, (tx) => deleteMinutesBefore(tx, orgId, instantFromMillis(last.toMs))));
    } catch (error) {
      areMinutesRemoved = false
      onFailure(orgId, error)
    }
  }
  if (!areMinutesRemoved) return []
  for (const { name } of expired) await dropPartition(url, name)
  return expired.map(({ name }) => name)
}

/** A statement that deletes one batch and returns whether there may be more. */
type DeleteBatch = (tx: Tx, orgId: number, before: Instant) => Promise<boolean>

/** Deletes everything of one organization that expires, except the minutes of its histories. */
async function deleteExpired(db: Database, orgId: number, nowMs: number, retentionDays: number): Promise<void> {
  const daysAgo = (days: number): Instant => instantFromMillis(nowMs - days * dayMs)
  const batched: readonly (readonly [DeleteBatch, days: number])[] = [
    [deleteMovesBefore, retentionDays],
    [deleteDeparturesBefore, retentionDays],
    [deleteNotesBefore, retentionDays],
    [deleteAttemptsBefore, attemptDays],
    [deleteExpiredFamilies, 0],
    [deleteRevokedFamilies, revokedFamilyDays],
    [deleteRevokedCredentials, revokedCredentialDays],
    [deleteTrimmedImportsBefore, importDays],
  ]
  for (const [deleteBatch, days] of batched) {
    const deleteNext = async (tx: Tx): Promise<boolean> => {
      await withCustomPlan(tx)
      return deleteBatch(tx, orgId, daysAgo(days))
    }
    while (await db.withTenant(orgId, deleteNext));
  }
  await db.withTenant(orgId, async (tx) => {
    await deleteExpiredInvitations(tx, orgId, daysAgo(0))
    // The last read of an unknown tag may become a sighting, so it must not be older than the history.
    await deleteUnknownTagsBefore(tx, orgId, daysAgo(Math.min(unknownDays, retentionDays)))
    await deleteUnknownAntennasBefore(tx, orgId, daysAgo(unknownDays))
  })
  for (const old of await importsBefore(db.read, orgId, daysAgo(importDays)))
    await db.withTenant(orgId, (tx) => deleteImportJob(tx, orgId, old))
}
