import type { Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'

/** Bytes per row, including its index entries; docs/operating/capacity.md has the measurements. */
const rowBytes = {
  /** With one tag. */
  record: 894,
  tag: 243,
  position: 189,
  firstSighting: 127,
  minute: 152,
  move: 433,
  departure: 120,
  note: 152,
  /** With the longest error. */
  attempt: 218,
  refreshToken: 224,
  import: 417,
}

/** A byte of a description is stored twice, and the index for searches has its trigrams. */
const bytesPerDescriptionByte = 5

const descriptionBytes = (orgId: number, table: Sql): Sql => sql`
  (select coalesce(sum(octet_length(description)), 0) * ${bytesPerDescriptionByte} from ${table} where org_id = ${orgId})`

/**
 * Estimates the bytes that the organization stores from the counters of its records, minutes and moves, from the numbers of
 * other rows, and from the sizes of descriptions, metadata, notes and imports. The statement never reads the history.
 */
export async function estimateStoredBytes(tx: Tx, orgId: number): Promise<number> {
  const [row] = await tx.query<{ bytes: number }>(sql`
    with records as (
      select coalesce(sum(active + inactive + deleted_active + deleted_inactive), 0) as total
      from record_counts where org_id = ${orgId}
    )
    select (
      (select total * ${rowBytes.record} from records)
      + (select greatest(count(*) - (select total from records), 0) * ${rowBytes.tag} from tags where org_id = ${orgId})
      + (select coalesce(sum(pg_column_size(metadata)), 0) from assets where org_id = ${orgId})
      + ${descriptionBytes(orgId, sql`assets`)} + ${descriptionBytes(orgId, sql`locations`)}
      + (select count(*) * ${rowBytes.position + rowBytes.firstSighting} + coalesce(sum(minutes), 0) * ${rowBytes.minute}
        from asset_positions where org_id = ${orgId})
      + (select coalesce(sum(arrivals), 0) * ${rowBytes.move} from location_move_counts where org_id = ${orgId})
      + (select count(*) * ${rowBytes.departure} from departures_without_move where org_id = ${orgId})
      + (select count(*) * ${rowBytes.note} + coalesce(sum(octet_length(note)), 0) from sighting_notes where org_id = ${orgId})
      + (select count(*) * ${rowBytes.attempt} from webhook_attempts where org_id = ${orgId})
      + (select count(*) * ${rowBytes.refreshToken} from refresh_token_families where org_id = ${orgId})
      + (select count(*) * ${rowBytes.import} + coalesce(sum(pg_column_size(errors)), 0)
          + coalesce(sum(bytes) filter (where state <> 'done'), 0)
        from imports where org_id = ${orgId})
    )::bigint as bytes`)
  return row!.bytes
}

export async function saveStoredBytes(tx: Tx, orgId: number, bytes: number): Promise<void> {
  await tx.query(sql`
    update organizations set stored_bytes = ${bytes} where org_id = ${orgId} and stored_bytes <> ${bytes}`)
}
