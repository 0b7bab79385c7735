import { dropPartition, makePartitions, partitionsBefore } from '../db/partitions.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import { allOrganizations } from '../organizations/organizations.sql.ts'
import { forgetMinutes, forgetMoves } from '../tracking/retention.sql.ts'
import type { Core } from './core.ts'

const dayMs = 86_400_000
const table = 'asset_minutes'

/** Every month a read may fall into, and the next two. */
export function makeMonths(url: string, nowMs: number, retentionDays: number): Promise<void> {
  return makePartitions(url, table, nowMs - retentionDays * dayMs, nowMs + 62 * dayMs)
}

/**
 * Makes months ahead and lets go of what is older than the retention time: first out of every history and its count,
 * in small steps, then the whole month at once. Nothing that comes in waits for it.
 */
export async function keepRetention(core: Core, url: string): Promise<{ dropped: string[] }> {
  const { db, clock, config } = core
  const nowMs = clock.millis()
  await makeMonths(url, nowMs, config.retentionDays)
  const horizonMs = nowMs - config.retentionDays * dayMs
  const expired = await partitionsBefore(url, table, horizonMs)
  const last = expired.at(-1)
  for (const orgId of await allOrganizations(db.read)) {
    const before = instantFromMillis(horizonMs)
    while (await db.inOrganization(orgId, (tx) => forgetMoves(tx, orgId, before)));
    if (last === undefined) continue
    while (await db.inOrganization(orgId, (tx) => forgetMinutes(tx, orgId, instantFromMillis(last.toMs))));
  }
  for (const { name } of expired) await dropPartition(url, name)
  return { dropped: expired.map(({ name }) => name) }
}
