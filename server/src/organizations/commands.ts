import type { Database } from '../db/database.ts'
import type { IdSource } from '../db/id-source.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { type OrganizationName, insertOrganization } from './organizations.sql.ts'

interface Needs {
  db: Database
  clock: Clock
  ids: IdSource
}

export async function createOrganization({ db, clock, ids }: Needs, name: string): Promise<OrganizationName> {
  const orgId = await ids.next(0)
  await db.inOrganization(orgId, (tx) => insertOrganization(tx, orgId, name, now(clock)))
  return { orgId, name }
}
