import { type Sql, sql } from '../db/sql.ts'
import type { RecordTable } from './list.sql.ts'

/** The maximum size of a batch of records of an export. */
const batchBytes = 1024 * 1024

/** The bytes of a row of a record or tag besides its texts, estimated. */
const rowBytes = 200

export interface BatchRequest {
  /** The id of the last record of the batch before. */
  after: number
  maxRows: number
}

/**
 * Selects the next live records, by id: as many as fit into a batch with their tags, and at least one. All of `maxRows`
 * records are read to know their sizes. `ownBytes` is the size of the columns that only this kind of record has.
 */
export const selectBatch = (
  orgId: number,
  { name, columns, tagOwnerId }: RecordTable,
  { after, maxRows }: BatchRequest,
  { isSelected = sql``, ownBytes = sql`0` }: { isSelected?: Sql; ownBytes?: Sql } = {},
): Sql => sql`
  select * from (
    select sized.*, sum(sized.bytes) over (order by sized.id) as total_bytes from (
      select ${columns}, ${ownBytes} + octet_length(r.external_key) + octet_length(r.name)
        + coalesce(octet_length(r.description), 0) + own_tags.bytes + (1 + own_tags.total) * ${rowBytes} as bytes
      from ${name} r
      cross join lateral (
        select count(*) as total, coalesce(sum(octet_length(t.value)), 0) as bytes
        from tags t where t.org_id = ${orgId} and ${tagOwnerId} = r.id
      ) own_tags
      where r.org_id = ${orgId} and r.id > ${after} and r.deleted_at is null ${isSelected}
      order by r.id limit ${maxRows}
    ) sized
  ) summed
  where total_bytes <= ${batchBytes} or total_bytes = bytes`
