import { readerRole, writerRole } from '../create-database.ts'
import { withSession } from '../session.ts'
import { sql } from '../sql.ts'

interface RoleFacts {
  role: string
  superuser: boolean
  bypasses: boolean
  owned: number
  unfenced: string[] | null
}

/**
 * Refuses to serve when a role could get around the fence between organizations: a superuser, one that bypasses row
 * level security, the owner of a table, or a tenant table without forced row level security.
 */
export async function checkRoles(url: string): Promise<void> {
  const problems = new Set<string>()
  for (const role of [writerRole, readerRole]) {
    const [facts] = await withSession(
      url,
      (session) =>
        session.query<RoleFacts>(sql`
        select current_user::text as role, rolsuper as superuser, rolbypassrls as bypasses,
          (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where n.nspname = 'public' and c.relowner = r.oid) as owned,
          (select array_agg(c.relname::text) from pg_class c
            join pg_namespace n on n.oid = c.relnamespace
            where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition
              and exists (select from pg_policies p where p.schemaname = 'public' and p.tablename = c.relname)
              and not (c.relrowsecurity and c.relforcerowsecurity)) as unfenced
        from pg_roles r where rolname = current_user`),
      { role },
    )
    if (facts === undefined || facts.role !== role) problems.add(`connections do not run as ${role}`)
    if (facts?.superuser) problems.add(`${role} is a superuser`)
    if (facts?.bypasses) problems.add(`${role} bypasses row level security`)
    if ((facts?.owned ?? 0) > 0) problems.add(`${role} owns tables`)
    if (facts?.unfenced) problems.add(`row level security is not forced on ${facts.unfenced.join(', ')}`)
  }
  if (problems.size > 0)
    throw new Error(
      `The database does not keep organizations apart: ${[...problems].join('; ')}. Lastseen will not start.`,
    )
}
