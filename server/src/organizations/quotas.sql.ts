import type { Db, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { QuotaName, StoredQuota } from '../kernel/quota.ts'

/** Assets and locations are summed from their counters; the other records are few enough to count. */
const usedOf = (orgId: number): Record<StoredQuota, Sql> => ({
  assets: sql`select coalesce(sum(active + inactive), 0)::bigint from record_counts where org_id = ${orgId} and kind = 'asset'`,
  locations: sql`select coalesce(sum(active + inactive), 0)::bigint from record_counts where org_id = ${orgId} and kind = 'location'`,
  readers: sql`select count(*) from readers where org_id = ${orgId}`,
  members: sql`select count(*) from memberships where org_id = ${orgId}`,
  api_keys: sql`select count(*) from credentials where org_id = ${orgId} and revoked_at is null`,
  imports: sql`select count(*) from imports where org_id = ${orgId} and not is_trimmed`,
  stored_bytes: sql`select coalesce(sum(stored_bytes), 0)::bigint from organizations where org_id = ${orgId}`,
})

export async function quotaUse(db: Db, orgId: number, name: StoredQuota): Promise<number> {
  const [row] = await db.query<{ used: number }>(sql`select (${usedOf(orgId)[name]}) as used`)
  return row!.used
}

/** The quotas that the operator has set for this organization. */
export async function ownQuotas(db: Db, orgId: number): Promise<Partial<Record<QuotaName, number>>> {
  const [row] = await db.query<{ quotas: string | null }>(sql`select quotas from organizations where org_id = ${orgId}`)
  return JSON.parse(row?.quotas ?? '{}') as Partial<Record<QuotaName, number>>
}

export async function setOwnQuotas(tx: Tx, orgId: number, quotas: Partial<Record<QuotaName, number>>): Promise<void> {
  await tx.query(sql`update organizations set quotas = ${JSON.stringify(quotas)}::json where org_id = ${orgId}`)
}
