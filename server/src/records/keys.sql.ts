import type { Database, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { RecordKind } from './counts.sql.ts'

const keyFormats: Record<RecordKind, { prefix: string; digits: number; table: Sql }> = {
  asset: { prefix: 'ASSET-', digits: 4, table: sql`assets` },
  location: { prefix: 'LOC-', digits: 3, table: sql`locations` },
}

export function generatedKey(kind: RecordKind, ordinal: number): string {
  return keyFormats[kind].prefix + String(ordinal).padStart(keyFormats[kind].digits, '0')
}

/** Candidates per query when the next numbers are in use, for example after an import with keys of the same format. */
const candidateCount = 1000

/**
 * The next generated key of the organization; with `skipUsed`, the next key that is not in use. Losing the counter in a
 * crash is harmless, because keys in use are skipped. So the commit does not wait for the disk, and concurrent creates do
 * not queue for it.
 */
export function generateKey(db: Database, orgId: number, kind: RecordKind, skipUsed: boolean): Promise<string> {
  return db.withTenant(
    orgId,
    async (tx) => {
      let ordinal = await advance(tx, orgId, kind, 1)
      while (skipUsed) {
        const free = await firstFree(tx, orgId, kind, ordinal)
        const step = free === null ? candidateCount : free - ordinal
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
    insert into key_counters as stored (org_id, kind, last) values (${orgId}, ${kind}, ${step})
    on conflict (org_id, kind) do update set last = stored.last + excluded.last
    returning last`)
  return row!.last
}

async function firstFree(tx: Tx, orgId: number, kind: RecordKind, from: number): Promise<number | null> {
  const candidates = Array.from({ length: candidateCount }, (_, index) => generatedKey(kind, from + index))
  const [row] = await tx.query<{ position: number }>(sql`
    select c.position from unnest(${candidates}::text[]) with ordinality as c (key, position)
    where not exists (
      select from ${keyFormats[kind].table} r where r.org_id = ${orgId} and r.external_key = c.key and r.deleted_at is null
    )
    order by c.position limit 1`)
  return row === undefined ? null : from + row.position - 1
}
