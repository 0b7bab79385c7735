import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import type { Import, ImportKind, ImportState, LineError, StagedRow, Tally } from './import.ts'

interface ImportRow {
  id: number
  kind: ImportKind
  state: ImportState
  rows: number
  creates: number
  updates: number
  unchanged: number
  errors_total: number
  errors: string
  created_at: string
  changed_at: string
}

export async function insertImport(tx: Tx, orgId: number, id: number, kind: ImportKind, at: Instant): Promise<void> {
  await tx.query(sql`
    insert into imports (org_id, id, kind, state, rows, creates, updates, unchanged, errors_total, errors, created_at,
      changed_at)
    values (${orgId}, ${id}, ${kind}, 'open', 0, 0, 0, 0, 0, '[]', ${toDatabase(at)}, ${toDatabase(at)})`)
}

export async function findImport(db: Db, orgId: number, id: number): Promise<Import | null> {
  const [row] = await db.query<ImportRow>(sql`
    select id, kind, state, rows, creates, updates, unchanged, errors_total, errors, created_at, changed_at
    from imports where org_id = ${orgId} and id = ${id}`)
  if (row === undefined) return null
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    rows: row.rows,
    creates: row.creates,
    updates: row.updates,
    unchanged: row.unchanged,
    errorsTotal: row.errors_total,
    errors: JSON.parse(row.errors) as LineError[],
    createdAt: fromDatabase(row.created_at),
    changedAt: fromDatabase(row.changed_at),
  }
}

/** Moves on from one of these states; false when the import is in another one by now. */
export async function setState(
  tx: Tx,
  orgId: number,
  id: number,
  from: readonly ImportState[],
  to: ImportState,
  at: Instant,
): Promise<boolean> {
  const moved = await tx.query(sql`
    update imports set state = ${to}, changed_at = ${toDatabase(at)}
    where org_id = ${orgId} and id = ${id} and state = any(${from}::text[]) returning id`)
  return moved.length === 1
}

export async function setTally(tx: Tx, orgId: number, id: number, tally: Tally): Promise<void> {
  await tx.query(sql`
    update imports set creates = ${tally.creates}, updates = ${tally.updates}, unchanged = ${tally.unchanged},
      errors_total = ${tally.errorsTotal}, errors = ${JSON.stringify(tally.errors)}
    where org_id = ${orgId} and id = ${id}`)
}

/** A line that comes again replaces itself, so that a request may be repeated. Says how many rows there are now. */
export async function stageRows(tx: Tx, orgId: number, id: number, rows: readonly StagedRow[]): Promise<number> {
  const staged = await tx.query(sql`
    insert into import_rows as made (org_id, import_id, line, content)
    select o.org_id, ${id}::bigint, u.line, u.content::json
    from organizations o cross join unnest(
      ${rows.map((row) => row.line)}::bigint[], ${rows.map((row) => JSON.stringify(row.content))}::text[]
    ) u (line, content)
    where o.org_id = ${orgId}
    on conflict (org_id, import_id, line) do update set content = excluded.content
    returning line`)
  if (staged.length !== rows.length) throw new Error('rows were not staged')
  const [count] = await tx.query<{ rows: number }>(
    sql`select count(*) as rows from import_rows where org_id = ${orgId} and import_id = ${id}`,
  )
  await tx.query(sql`update imports set rows = ${count!.rows} where org_id = ${orgId} and id = ${id}`)
  return count!.rows
}

export async function stagedRows(
  db: Db,
  orgId: number,
  id: number,
  after: number,
  limit: number,
): Promise<StagedRow[]> {
  const rows = await db.query<{ line: number; content: string }>(sql`
    select line, content from import_rows
    where org_id = ${orgId} and import_id = ${id} and line > ${after} order by line limit ${limit}`)
  return rows.map((row) => ({ line: row.line, content: JSON.parse(row.content) as unknown }))
}

export async function deleteImport(tx: Tx, orgId: number, id: number): Promise<void> {
  await tx.query(sql`delete from import_rows where org_id = ${orgId} and import_id = ${id}`)
  await tx.query(sql`delete from imports where org_id = ${orgId} and id = ${id}`)
}

/** The ones made before an instant, oldest first. */
export async function importsBefore(db: Db, orgId: number, before: Instant): Promise<number[]> {
  const rows = await db.query<{ id: number }>(sql`
    select id from imports where org_id = ${orgId} and created_at < ${toDatabase(before)} order by created_at`)
  return rows.map((row) => row.id)
}

/** Held by whoever works on the import, until its transaction ends, however it ends. False when somebody else does. */
export async function holdImport(tx: Tx, id: number): Promise<boolean> {
  const [row] = await tx.query<{ held: boolean }>(sql`select pg_try_advisory_xact_lock(${-id}::bigint) as held`)
  return row!.held
}
