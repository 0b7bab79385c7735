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

type OwnQuotas = Partial<Record<QuotaName, number>>

const parseQuotas = (text: string | null | undefined): OwnQuotas => JSON.parse(text ?? '{}') as OwnQuotas

/** The quotas that the operator has set for this organization. */
export async function ownQuotas(db: Db, orgId: number): Promise<OwnQuotas> {
  const [row] = await db.query<{ quotas: string | null }>(sql`select quotas from organizations where org_id = ${orgId}`)
  return parseQuotas(row?.quotas)
}

/** The estimate of the stored bytes, and the quotas that the operator has set. */
export async function storedBytes(db: Db, orgId: number): Promise<{ used: number; own: OwnQuotas }> {
  const [row] = await db.query<{ stored_bytes: number; quotas: string | null }>(
    sql`select stored_bytes, quotas from organizations where org_id = ${orgId}`,
  )
  return { used: row?.stored_bytes ?? 0, own: parseQuotas(row?.quotas) }
}

export async function setOwnQuotas(tx: Tx, orgId: number, quotas: OwnQuotas): Promise<void> {
  await tx.query(sql`update organizations set quotas = ${JSON.stringify(quotas)}::json where org_id = ${orgId}`)
}
