import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'

export interface OrganizationName {
  orgId: number
  name: string
}

export async function findOrganization(db: Db, orgId: number): Promise<OrganizationName | null> {
  const [row] = await db.query<{ org_id: number; name: string }>(
    sql`select org_id, name from organization_names where org_id = ${orgId}`,
  )
  return row === undefined ? null : { orgId: row.org_id, name: row.name }
}

export async function findOrganizationsByName(db: Db, name: string): Promise<OrganizationName[]> {
  const rows = await db.query<{ org_id: number; name: string }>(
    sql`select org_id, name from organization_names where name = ${name} order by org_id`,
  )
  return rows.map((row) => ({ orgId: row.org_id, name: row.name }))
}

export async function hasOrganizations(db: Db): Promise<boolean> {
  return (await db.query(sql`select from organization_names limit 1`)).length > 0
}

/** True if the installation has a single organization, to which data without an owner then belongs. */
export async function isOnlyOrganization(db: Db): Promise<boolean> {
  return (await db.query(sql`select from organization_names limit 2`)).length === 1
}

export async function insertOrganization(tx: Tx, orgId: number, name: string, at: Instant): Promise<void> {
  await tx.query(sql`insert into organizations (org_id, created_at) values (${orgId}, ${toDatabase(at)})`)
  await tx.query(sql`insert into organization_names (org_id, name) values (${orgId}, ${name})`)
}

/** A lapsed organization keeps access to the API; only its webhook events are dropped. */
export async function setLapsed(tx: Tx, orgId: number, at: Instant | null): Promise<void> {
  await tx.query(sql`update organizations set lapsed_at = ${at && toDatabase(at)} where org_id = ${orgId}`)
}

export async function allOrganizations(db: Db): Promise<number[]> {
  const rows = await db.query<{ org_id: number }>(sql`select org_id from organization_names order by org_id`)
  return rows.map((row) => row.org_id)
}

/** Sorted by name. */
export async function listOrganizations(db: Db): Promise<OrganizationName[]> {
  const rows = await db.query<{ org_id: number; name: string }>(
    sql`select org_id, name from organization_names order by name, org_id`,
  )
  return rows.map((row) => ({ orgId: row.org_id, name: row.name }))
}

export async function findStanding(
  db: Db,
  orgId: number,
): Promise<{ createdAt: Instant; lapsedAt: Instant | null } | null> {
  const [row] = await db.query<{ created_at: string; lapsed_at: string | null }>(
    sql`select created_at, lapsed_at from organizations where org_id = ${orgId}`,
  )
  if (row === undefined) return null
  return {
    createdAt: fromDatabase(row.created_at),
    lapsedAt: row.lapsed_at === null ? null : fromDatabase(row.lapsed_at),
  }
}

/** Whether the organization has an asset, location or reader. Deleted assets and locations count. */
export async function hasRecords(db: Db, orgId: number): Promise<boolean> {
  const [row] = await db.query<{ has_records: boolean }>(sql`
    select exists (select from assets where org_id = ${orgId})
      or exists (select from locations where org_id = ${orgId})
      or exists (select from readers where org_id = ${orgId}) as has_records`)
  return row!.has_records
}
