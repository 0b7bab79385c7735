import type { Database, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { RecordKind } from './counts.sql.ts'

const form: Record<RecordKind, { prefix: string; digits: number; table: Sql }> = {
  asset: { prefix: 'ASSET-', digits: 4, table: sql`assets` },
  location: { prefix: 'LOC-', digits: 3, table: sql`locations` },
}

export function generatedKey(kind: RecordKind, ordinal: number): string {
  return form[kind].prefix + String(ordinal).padStart(form[kind].digits, '0')
}

/** Numbers looked over at once when the next ones are in use, as after an import with keys of the same form. */
const lookAhead = 1000

/**
 * The next generated key of the organization; after one turned out to be in use, the next one that is not. Losing the
 * counter in a crash costs nothing, because keys in use are skipped: so the commit need not wait for the disk, and
 * creators do not queue behind each other's.
 */
export function generateKey(db: Database, orgId: number, kind: RecordKind, skipUsed: boolean): Promise<string> {
  return db.withTenant(
    orgId,
    async (tx) => {
      let ordinal = await advance(tx, orgId, kind, 1)
      while (skipUsed) {
        const free = await firstFree(tx, orgId, kind, ordinal)
        const step = free === null ? lookAhead : free - ordinal
        if (step > 0) ordinal = await advance(tx, orgId, kind, step)
        if (free !== null) break
      }
      return generatedKey(kind, ordinal)
    },
    { asyncCommit: true },
  )
}

async function advance(tx: Tx, orgId: number, kind: RecordKind, step: number): Promise<number> {
  const [row] = await tx.query<{ last: number }>(sql`
    insert into key_counters as held (org_id, kind, last) values (${orgId}, ${kind}, ${step})
    on conflict (org_id, kind) do update set last = held.last + excluded.last
    returning last`)
  return row!.last
}

async function firstFree(tx: Tx, orgId: number, kind: RecordKind, from: number): Promise<number | null> {
  const candidates = Array.from({ length: lookAhead }, (_, index) => generatedKey(kind, from + index))
  const [row] = await tx.query<{ position: number }>(sql`
    select c.position from unnest(${candidates}::text[]) with ordinality as c (key, position)
    where not exists (
      select from ${form[kind].table} r where r.org_id = ${orgId} and r.external_key = c.key and r.deleted_at is null
    )
    order by c.position limit 1`)
  return row === undefined ? null : from + row.position - 1
}
