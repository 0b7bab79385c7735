import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import type {
  ErrorPolicy,
  Import,
  ImportJob,
  ImportKind,
  ImportMode,
  ImportOptions,
  ImportState,
  LineError,
  StagedRow,
  ImportResult,
} from './import-row.ts'

interface ImportRow {
  id: number
  kind: ImportKind
  state: ImportState
  job: ImportJob | null
  is_bulk: boolean
  mode: ImportMode
  is_dry_run: boolean
  on_error: ErrorPolicy
  rows: number
  creates: number
  updates: number
  unchanged: number
  failed: number
  errors_total: number
  errors: string
  created_at: string
  changed_at: string
}

/** `options` is null for an import that is checked and run by separate requests. */
export async function insertImport(
  tx: Tx,
  orgId: number,
  id: number,
  kind: ImportKind,
  options: ImportOptions | null,
  at: Instant,
): Promise<void> {
  const { mode, isDryRun, onError } = options ?? { mode: 'upsert', isDryRun: false, onError: 'abort' }
  await tx.query(sql`
    insert into imports (org_id, id, kind, state, rows, creates, updates, unchanged, errors_total, errors, created_at,
      changed_at, is_bulk, mode, is_dry_run, on_error)
    values (${orgId}, ${id}, ${kind}, 'open', 0, 0, 0, 0, 0, '[]', ${toDatabase(at)}, ${toDatabase(at)},
      ${options !== null}, ${mode}, ${isDryRun}, ${onError})`)
}

/** The number of errors that an import is read with. All of its errors are read in pages. */
const errorsRead = 200

export async function findImport(db: Db, orgId: number, id: number): Promise<Import | null> {
  const [row] = await db.query<ImportRow>(sql`
    select id, kind, state, job, is_bulk, mode, is_dry_run, on_error, rows, creates, updates, unchanged, failed,
      errors_total, created_at, changed_at,
      coalesce((select json_agg(e.error order by e.position)
        from json_array_elements(errors) with ordinality e (error, position) where e.position <= ${errorsRead}), '[]') as errors
    from imports where org_id = ${orgId} and id = ${id}`)
  if (row === undefined) return null
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    job: row.job,
    isBulk: row.is_bulk,
    mode: row.mode,
    isDryRun: row.is_dry_run,
    onError: row.on_error,
    rows: row.rows,
    creates: row.creates,
    updates: row.updates,
    unchanged: row.unchanged,
    failed: row.failed,
    errorsTotal: row.errors_total,
    errors: JSON.parse(row.errors) as LineError[],
    createdAt: fromDatabase(row.created_at),
    changedAt: fromDatabase(row.changed_at),
  }
}

/** The errors of rows, in the order of the check; those of the whole import are left out. */
export async function importErrors(db: Db, orgId: number, id: number, request: PageRequest): Promise<Page<LineError>> {
  const rows = await db.query<{ total: number; error: string | null }>(sql`
    with all_errors as (
      select e.error, e.position from imports i, json_array_elements(i.errors) with ordinality e (error, position)
      where i.org_id = ${orgId} and i.id = ${id} and (e.error ->> 'line')::bigint > 0
    ),
    page as (select error, position from all_errors order by position limit ${request.limit} offset ${request.offset})
    select total.total, page.error from (select count(*) as total from all_errors) total
    left join page on true order by page.position`)
  const errors = rows.flatMap(({ error }) => (error === null ? [] : [JSON.parse(error) as LineError]))
  return { rows: errors, total: rows[0]?.total ?? 0 }
}

/** The job that a request with this key has started since an instant, and the hash of that request. */
export async function findByIdempotencyKey(
  db: Db,
  orgId: number,
  key: string,
  since: Instant,
): Promise<{ id: number; hash: string } | null> {
  const [row] = await db.query<{ id: number; hash: string }>(sql`
    select id, request_digest as hash from imports
    where org_id = ${orgId} and idempotency_key = ${key} and created_at > ${toDatabase(since)}
    order by created_at desc limit 1`)
  return row ?? null
}

/** The number of keys that requests have used since an instant. */
export async function countIdempotencyKeys(db: Db, orgId: number, since: Instant): Promise<number> {
  const [row] = await db.query<{ used: number }>(sql`
    select count(*) as used from imports
    where org_id = ${orgId} and idempotency_key is not null and created_at > ${toDatabase(since)}`)
  return row!.used
}

export async function setIdempotencyKey(tx: Tx, orgId: number, id: number, key: string, hash: string): Promise<void> {
  await tx.query(sql`
    update imports set idempotency_key = ${key}, request_digest = ${hash} where org_id = ${orgId} and id = ${id}`)
}

/** Keeps the import for its idempotency key alone. */
export async function trimImport(tx: Tx, orgId: number, id: number): Promise<void> {
  await deleteRows(tx, orgId, id)
  await tx.query(sql`update imports set is_trimmed = true, errors = '[]' where org_id = ${orgId} and id = ${id}`)
}

const maxFailedImports = 20

export interface FailedImport {
  id: number
  kind: ImportKind
  failedAt: Instant
}

/** The latest failed imports, latest first, without those that are kept for their idempotency key alone. */
export async function failedImports(db: Db, orgId: number): Promise<FailedImport[]> {
  const rows = await db.query<{ id: number; kind: ImportKind; changed_at: string }>(sql`
    select id, kind, changed_at from imports where org_id = ${orgId} and state = 'failed' and not is_trimmed
    order by changed_at desc, id limit ${maxFailedImports}`)
  return rows.map(({ id, kind, changed_at: at }) => ({ id, kind, failedAt: fromDatabase(at) }))
}

interface StateChange {
  from: readonly ImportState[]
  to: ImportState
  at: Instant
  job?: ImportJob
}

/** Changes the state if it is one of `from`; returns false otherwise. */
export async function setState(
  tx: Tx,
  orgId: number,
  id: number,
  { from, to, at, job }: StateChange,
): Promise<boolean> {
  const moved = await tx.query(sql`
    update imports set state = ${to}, job = ${job ?? null}, changed_at = ${toDatabase(at)}
    where org_id = ${orgId} and id = ${id} and state = any(${from}::text[]) returning id`)
  return moved.length === 1
}

export async function setResult(tx: Tx, orgId: number, id: number, result: ImportResult): Promise<void> {
  await tx.query(sql`
    update imports set creates = ${result.creates}, updates = ${result.updates}, unchanged = ${result.unchanged},
      failed = ${result.failed}, errors_total = ${result.errorsTotal}, errors = ${JSON.stringify(result.errors)}
    where org_id = ${orgId} and id = ${id}`)
}

/**
 * A line that is sent again replaces the earlier one, so that a request can be retried. Returns the total rows and bytes
 * of the import. The caller must have locked the import's row.
 */
export async function stageRows(
  tx: Tx,
  orgId: number,
  id: number,
  rows: readonly StagedRow[],
): Promise<{ rows: number; bytes: number }> {
  const lines = rows.map((row) => row.line)
  const contents = rows.map((row) => JSON.stringify(row.content))
  const sizes = contents.map((content) => Buffer.byteLength(content))
  const [replaced] = await tx.query<{ rows: number; bytes: number }>(sql`
    select count(*) as rows, coalesce(sum(bytes), 0)::bigint as bytes from import_rows
    where org_id = ${orgId} and import_id = ${id} and line = any(${lines}::bigint[])`)
  const staged = await tx.query(sql`
    insert into import_rows as made (org_id, import_id, line, content, bytes)
    select o.org_id, ${id}::bigint, u.line, u.content::json, u.bytes
    from organizations o cross join unnest(${lines}::bigint[], ${contents}::text[], ${sizes}::int[]) u (line, content, bytes)
    where o.org_id = ${orgId}
    on conflict (org_id, import_id, line) do update set content = excluded.content, bytes = excluded.bytes
    returning line`)
  if (staged.length !== rows.length) throw new Error('rows were not staged')
  const added = rows.length - replaced!.rows
  const addedBytes = sizes.reduce((sum, size) => sum + size, 0) - replaced!.bytes
  const [total] = await tx.query<{ rows: number; bytes: number }>(sql`
    update imports set rows = rows + ${added}, bytes = bytes + ${addedBytes}
    where org_id = ${orgId} and id = ${id} returning rows, bytes`)
  return total!
}

/**
 * The limits of a batch. A row can have 100 tags, so 256 KiB can have 6,000. The number of rows is limited too, because each
 * may lead to a record with 64 KiB of metadata.
 */
const batchRows = 500
const batchBytes = 256 * 1024

/** A staged row and its size. */
export type SizedRow = StagedRow & { bytes: number }

const sizedRow = (row: { line: number; content: string; bytes: number }): SizedRow => ({
  line: row.line,
  content: JSON.parse(row.content) as unknown,
  bytes: row.bytes,
})

/** The next rows after a line, at most one batch. */
export async function stagedRows(db: Db, orgId: number, id: number, after: number): Promise<SizedRow[]> {
  const rows = await db.query<{ line: number; content: string; bytes: number }>(sql`
    select line, content, bytes from (
      select line, content, bytes, sum(bytes) over (order by line) as total from (
        select line, content, bytes from import_rows
        where org_id = ${orgId} and import_id = ${id} and line > ${after} order by line limit ${batchRows}
      ) following
    ) summed
    where total <= ${batchBytes} or total = bytes order by line`)
  return rows.map(sizedRow)
}

export async function stagedRowsAt(db: Db, orgId: number, id: number, lines: readonly number[]): Promise<SizedRow[]> {
  const rows = await db.query<{ line: number; content: string; bytes: number }>(sql`
    select line, content, bytes from import_rows
    where org_id = ${orgId} and import_id = ${id} and line = any(${lines}::bigint[]) order by line`)
  return rows.map(sizedRow)
}

/** Splits rows into batches. */
export function* toBatches<Row extends { bytes: number }>(rows: readonly Row[]): Generator<Row[]> {
  let batch: Row[] = []
  let bytes = 0
  for (const row of rows) {
    if (batch.length === batchRows || (batch.length > 0 && bytes + row.bytes > batchBytes)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(row)
    bytes += row.bytes
  }
  if (batch.length > 0) yield batch
}

/** The maximum number of records and tags that the rows could create. */
export async function countStaged(db: Db, orgId: number, id: number): Promise<{ rows: number; tags: number }> {
  const [row] = await db.query<{ rows: number; tags: number }>(sql`
    select count(*) as rows,
      coalesce(sum(case when json_typeof(content -> 'tags') = 'array' then json_array_length(content -> 'tags') end), 0)::bigint
        as tags
    from import_rows where org_id = ${orgId} and import_id = ${id}`)
  return row!
}

export async function deleteRows(tx: Tx, orgId: number, id: number): Promise<void> {
  await tx.query(sql`delete from import_rows where org_id = ${orgId} and import_id = ${id}`)
}

export async function deleteImport(tx: Tx, orgId: number, id: number): Promise<void> {
  await deleteRows(tx, orgId, id)
  await tx.query(sql`delete from imports where org_id = ${orgId} and id = ${id}`)
}

/**
 * Deletes a batch of the imports that were created before an instant and kept for their idempotency key alone, so they have
 * no rows. Returns whether there may be more.
 */
export async function deleteTrimmedImportsBefore(tx: Tx, orgId: number, before: Instant): Promise<boolean> {
  const deleted = await tx.query(sql`
    delete from imports where org_id = ${orgId} and id in (
      select id from imports where org_id = ${orgId} and created_at < ${toDatabase(before)} and is_trimmed
      limit ${deleteBatchSize})
    returning id`)
  return deleted.length === deleteBatchSize
}

const deleteBatchSize = 1000

/** The imports created before an instant, oldest first. */
export async function importsBefore(
  db: Db,
  orgId: number,
  before: Instant,
): Promise<{ id: number; changedAt: Instant }[]> {
  const rows = await db.query<{ id: number; changed_at: string }>(sql`
    select id, changed_at from imports where org_id = ${orgId} and created_at < ${toDatabase(before)} order by created_at`)
  return rows.map((row) => ({ id: row.id, changedAt: fromDatabase(row.changed_at) }))
}

/** The process that works on the import holds this lock until its transaction ends. False when another process holds it. */
export async function tryLockImport(tx: Tx, id: number): Promise<boolean> {
  const [row] = await tx.query<{ held: boolean }>(sql`select pg_try_advisory_xact_lock(${-id}::bigint) as held`)
  return row!.held
}

/**
 * Locks the row of an import against changes until the transaction ends. False when another transaction is changing the
 * import, or it was changed or deleted since it was read.
 */
export async function tryLockRow(
  tx: Tx,
  orgId: number,
  { id, changedAt }: { id: number; changedAt: Instant },
): Promise<boolean> {
  const rows = await tx.query(sql`
    select id from imports where org_id = ${orgId} and id = ${id} and changed_at = ${toDatabase(changedAt)}
    for update skip locked`)
  return rows.length === 1
}

/** Serializes state changes of the organization's imports, so that two processes never start two of them at once. */
export async function lockImports(tx: Tx, orgId: number): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(${-orgId}::bigint)`)
}

/** The organization's imports in these states, ordered by the time of the last change. */
export async function importsIn(db: Db, orgId: number, states: readonly ImportState[]): Promise<ImportInState[]> {
  const rows = await db.query<{
    id: number
    kind: ImportKind
    state: ImportState
    job: ImportJob | null
    mode: ImportMode
    is_bulk: boolean
    has_key: boolean
    created_at: string
    changed_at: string
  }>(
    sql`
      select id, kind, state, job, mode, is_bulk, idempotency_key is not null as has_key, created_at, changed_at
      from imports
      where org_id = ${orgId} and state = any(${states}::text[]) and not is_trimmed order by changed_at, id`,
  )
  return rows.map(({ changed_at: changed, created_at: created, is_bulk: isBulk, has_key: hasKey, ...row }) => ({
    ...row,
    isBulk,
    hasKey,
    createdAt: fromDatabase(created),
    changedAt: fromDatabase(changed),
  }))
}

type Summary = Pick<Import, 'id' | 'kind' | 'state' | 'job' | 'mode' | 'isBulk' | 'createdAt' | 'changedAt'>

export type ImportInState = Summary & {
  /** The import was requested with an idempotency key. */
  hasKey: boolean
}
