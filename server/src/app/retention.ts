import type { Logger } from 'pino'
import { forgetImport } from '../bulk/imports.ts'
import { importsBefore } from '../bulk/imports.sql.ts'
import { alone } from '../db/alone.ts'
import { dropPartition, historyTable, makeMonths, partitionsBefore } from '../db/partitions.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import { allOrganizations } from '../organizations/organizations.sql.ts'
import { forgetMinutes, forgetMoves } from '../tracking/retention.sql.ts'
import { forgetAttempts } from '../webhooks/attempts.sql.ts'
import type { Core } from './core.ts'

const dayMs = 86_400_000
const lockKey = 6_170_504
const attemptDays = 7

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
  for (const orgId of await allOrganizations(db.read)) {
    const before = instantFromMillis(horizonMs)
    while (await db.inOrganization(orgId, (tx) => forgetMoves(tx, orgId, before)));
    const attemptsBefore = instantFromMillis(nowMs - attemptDays * dayMs)
    while (await db.inOrganization(orgId, (tx) => forgetAttempts(tx, orgId, attemptsBefore)));
    for (const id of await importsBefore(db.read, orgId, instantFromMillis(nowMs - dayMs)))
      await db.inOrganization(orgId, (tx) => forgetImport(tx, orgId, id))
    if (last === undefined) continue
    while (await db.inOrganization(orgId, (tx) => forgetMinutes(tx, orgId, instantFromMillis(last.toMs))));
  }
  for (const { name } of expired) await dropPartition(url, name)
  return expired.map(({ name }) => name)
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
