import type { Database } from '../db/database.ts'
import type { IdGenerator } from '../db/id-generator.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { type OrganizationName, insertOrganization } from './organizations.sql.ts'

interface Deps {
  db: Database
  clock: Clock
  ids: IdGenerator
}

export async function createOrganization({ db, clock, ids }: Deps, name: string): Promise<OrganizationName> {
  const orgId = await ids.next(0)
  await db.withTenant(orgId, (tx) => insertOrganization(tx, orgId, name, now(clock)))
  return { orgId, name }
}
