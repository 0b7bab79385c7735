import type { Database } from '../db/database.ts'
import type { User } from '../users/user.ts'
import {
  type NoteCursor,
  type UserRows,
  accountRows,
  createdKeys,
  boundedRowsIn,
  writtenNotes,
} from '../users/user-data.sql.ts'

export interface UserExport {
  user: Pick<User, 'userId' | 'email'>
  /** The organizations whose rows are exported. */
  orgIds: readonly number[]
}

/** Numbers of rows by table. */
type RowCounts = Record<string, number>

const add = (counts: RowCounts, table: string, rows: readonly string[]): number =>
  (counts[table] = (counts[table] ?? 0) + rows.length)

/** Everything about one user, in parts. */
async function* partsOf(db: Database, { user, orgIds }: UserExport): AsyncGenerator<UserRows> {
  yield* await Promise.all(accountRows(db, user.userId))
  for (const orgId of orgIds) {
    const source = db.replica(orgId)
    yield* await Promise.all(boundedRowsIn(source, orgId, user))
    for (let after: number | null = 0; after !== null;) {
      const keys = await createdKeys(source, orgId, user.userId, after)
      yield keys
      after = keys.next
    }
    for (let after: NoteCursor | null = { assetId: 0, minute: '-infinity', saveId: 0 }; after !== null;) {
      const notes = await writtenNotes(source, orgId, user.userId, after)
      yield notes
      after = notes.next
    }
  }
}

const line = (value: object): string => `${JSON.stringify(value)}\n`

/**
 * Everything that is stored about a user as NDJSON: a header, a line for each row, and a trailer with the number of rows of
 * each table, without which the file is incomplete. It has no hashes and no secrets.
 */
export async function* exportUser(
  db: Database,
  options: UserExport & { exportedAt: string },
  counts: RowCounts = {},
): AsyncGenerator<string> {
  const { user, exportedAt } = options
  yield line({ lastseen_user: 1, user_id: user.userId, email: user.email, exported_at: exportedAt })
  for await (const { table, rows } of partsOf(db, options)) {
    add(counts, table, rows)
    if (rows.length > 0) yield rows.map((row) => `{"table":"${table}","row":${row}}\n`).join('')
  }
  yield line({ end: true, rows: counts })
}

export async function countUserRows(db: Database, options: UserExport): Promise<RowCounts> {
  const counts: RowCounts = {}
  for await (const { table, rows } of partsOf(db, options)) add(counts, table, rows)
  return counts
}
