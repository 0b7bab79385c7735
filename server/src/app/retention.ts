import type { Logger } from 'pino'
import { forgetImport } from '../bulk/imports.ts'
import { importsBefore } from '../bulk/imports.sql.ts'
import { deleteRevokedCredentials } from '../credentials/credentials.sql.ts'
import { deleteDeadChains, deleteRevokedChains } from '../credentials/refresh-chains.sql.ts'
import { alone } from '../db/alone.ts'
import { dropPartition, historyTable, makeMonths, partitionsBefore } from '../db/partitions.ts'
import { type Tx } from '../db/database.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import { allOrganizations } from '../organizations/organizations.sql.ts'
import { deleteUnknownAntennasBefore, deleteUnknownTopicsBefore } from '../readers/unknown.sql.ts'
import { forgetMinutes, forgetMoves } from '../tracking/retention.sql.ts'
import { deleteUnknownTagsBefore } from '../tracking/unknown-tags.sql.ts'
import { deleteExpiredInvitations } from '../users/invitations.sql.ts'
import { deleteExpiredResets } from '../users/resets.sql.ts'
import { forgetAttempts } from '../webhooks/attempts.sql.ts'
import type { Core } from './core.ts'

const dayMs = 86_400_000
const lockKey = 6_170_504
const attemptDays = 7
const importDays = 1
/** Of a session that ended early, or of a key's refresh tokens. */
const revokedChainDays = 1
const revokedCredentialDays = 30
/** Of tags, antennas and topics that nobody knows, since they were last seen. */
const unknownDays = 30

/**
 * Makes months ahead and lets go of what is older than the retention time: first out of every history and its count,
 * in small steps, then the whole month at once. Nothing that comes in waits for it.
 */
export function keepRetention(core: Core, url: string): Promise<string[]> {
  return alone(url, lockKey, () => letGo(core, url))
}

async function letGo(core: Core, url: string): Promise<string[]> {
  const { clock, config } = core
  const db = core.db.background
  const nowMs = clock.millis()
  await makeMonths(url, nowMs, config.retentionDays)
  const horizonMs = nowMs - config.retentionDays * dayMs
  const expired = await partitionsBefore(url, historyTable, horizonMs)
  const last = expired.at(-1)
  await deleteExpiredResets(db.common, instantFromMillis(nowMs))
  await deleteUnknownTopicsBefore(db.common, instantFromMillis(nowMs - unknownDays * dayMs))
  for (const orgId of await allOrganizations(db.read)) {
    const before = instantFromMillis(horizonMs)
    while (await db.inOrganization(orgId, (tx) => forgetMoves(tx, orgId, before)));
    const attemptsBefore = instantFromMillis(nowMs - attemptDays * dayMs)
    while (await db.inOrganization(orgId, (tx) => forgetAttempts(tx, orgId, attemptsBefore)));
    await db.inOrganization(orgId, (tx) => deleteExpired(tx, orgId, nowMs))
    for (const id of await importsBefore(db.read, orgId, instantFromMillis(nowMs - importDays * dayMs)))
      await db.inOrganization(orgId, (tx) => forgetImport(tx, orgId, id))
    if (last === undefined) continue
    while (await db.inOrganization(orgId, (tx) => forgetMinutes(tx, orgId, instantFromMillis(last.toMs))));
  }
  for (const { name } of expired) await dropPartition(url, name)
  return expired.map(({ name }) => name)
}

/** What is small enough to go in one transaction. */
async function deleteExpired(tx: Tx, orgId: number, nowMs: number): Promise<void> {
  const daysAgo = (days: number) => instantFromMillis(nowMs - days * dayMs)
  await deleteDeadChains(tx, orgId, daysAgo(0))
  await deleteRevokedChains(tx, orgId, daysAgo(revokedChainDays))
  await deleteRevokedCredentials(tx, orgId, daysAgo(revokedCredentialDays))
  await deleteExpiredInvitations(tx, orgId, daysAgo(0))
  await deleteUnknownTagsBefore(tx, orgId, daysAgo(unknownDays))
  await deleteUnknownAntennasBefore(tx, orgId, daysAgo(unknownDays))
}

const everyMs = 3_600_000

/** Once an hour, by whichever process comes first. What fails is logged and tried again the next time. */
export function startRetention(core: Core, url: string, log: Logger): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  const round = async (): Promise<void> => {
    try {
      const dropped = await keepRetention(core, url)
      if (dropped.length > 0) log.info({ event: 'retention.dropped', dropped }, 'old history dropped')
    } catch (error) {
      log.warn({ event: 'chore.failed', chore: 'retention', err: error }, 'chore failed')
    }
  }
  const timer = setInterval(() => {
    running = running.then(round)
  }, everyMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}
