import { readerRole, writerRole } from '../connection-pools.ts'
import { withSession } from '../session.ts'
import { sql } from '../sql.ts'

interface RoleFacts {
  role: string
  superuser: boolean
  bypasses: boolean
  owned: number
  unprotected: string[] | null
}

/**
 * Throws when tenant isolation is not guaranteed: a role is a superuser, bypasses row level security or owns a table, or
 * row level security is not forced on a tenant table.
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
              and not (c.relrowsecurity and c.relforcerowsecurity)) as unprotected
        from pg_roles r where rolname = current_user`),
      { role },
    )
    if (facts === undefined || facts.role !== role) problems.add(`connections do not run as ${role}`)
    if (facts?.superuser) problems.add(`${role} is a superuser`)
    if (facts?.bypasses) problems.add(`${role} bypasses row level security`)
    if ((facts?.owned ?? 0) > 0) problems.add(`${role} owns tables`)
    if (facts?.unprotected) problems.add(`row level security is not forced on ${facts.unprotected.join(', ')}`)
  }
  if (problems.size > 0)
    throw new Error(
      `The database does not guarantee tenant isolation: ${[...problems].join('; ')}. Lastseen will not start.`,
    )
}
