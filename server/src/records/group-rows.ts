import { fromDatabase } from '../kernel/instant.ts'
import { tagOf } from '../tags/tags.sql.ts'
import type { CoreRow } from './list.sql.ts'
import type { RecordCore } from './record.ts'

/** There is one row per tag, ordered by record; consecutive rows of a record are merged. */
export function groupRows<Row extends CoreRow, Record extends RecordCore>(
  rows: readonly Row[],
  build: (row: Row) => Record,
): Record[] {
  const records: Record[] = []
  let last: Record | undefined
  for (const row of rows) {
    if (row.id === null) continue
    const tag = tagOf(row)
    if (last?.id !== row.id) {
      last = build(row)
      // An array literal allocates one element, enough for most records; the first push to an empty array allocates 17.
      if (tag !== null) last.tags = [tag]
      records.push(last)
    } else if (tag !== null) last.tags.push(tag)
  }
  return records
}

export function toRecord(row: CoreRow): RecordCore {
  return {
    id: row.id,
    externalKey: row.external_key,
    name: row.name,
    description: row.description,
    isActive: row.is_active,
    validFrom: fromDatabase(row.valid_from),
    validTo: row.valid_to === null ? null : fromDatabase(row.valid_to),
    createdAt: fromDatabase(row.created_at),
    updatedAt: fromDatabase(row.updated_at),
    deletedAt: row.deleted_at === null ? null : fromDatabase(row.deleted_at),
    tags: [],
  }
}
