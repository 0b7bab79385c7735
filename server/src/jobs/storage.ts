import type { Logger } from 'pino'
import { withAdvisoryLock } from '../db/advisory-lock.ts'
import type { Connection } from '../db/create-database.ts'
import { allOrganizations } from '../organizations/organizations.sql.ts'
import type { Quotas } from '../organizations/quotas.ts'
import { estimateStoredBytes, saveStoredBytes } from '../organizations/stored-bytes.sql.ts'

export interface StorageDeps {
  db: Connection
  quotas: Quotas
}

const lockKey = 6_170_505

/** Estimates what each organization stores, for the quota `stored_bytes`, and logs the organizations that have reached it. */
export function estimateStorage(deps: StorageDeps, url: string, log: Logger): Promise<void> {
  return withAdvisoryLock(url, lockKey, () => estimateAll(deps, log))
}

async function estimateAll({ db, quotas }: StorageDeps, log: Logger): Promise<void> {
  for (const orgId of await allOrganizations(db.read)) {
    try {
      const bytes = await db.background.withTenant(orgId, async (tx) => {
        const estimate = await estimateStoredBytes(tx, orgId)
        await saveStoredBytes(tx, orgId, estimate)
        return estimate
      })
      const { left, limit } = await quotas.roomFor(orgId, 'stored_bytes')
      if (left === 0) log.warn({ event: 'quota.reached', quota: 'stored_bytes', orgId, bytes, limit }, 'quota reached')
    } catch (error) {
      // The previous estimate of this organization stays.
      log.warn({ event: 'job.failed', job: 'storage', orgId, err: error }, 'job failed')
    }
  }
}
