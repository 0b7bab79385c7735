import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** Bytes per row, including its index entries; docs/operating/capacity.md has the measurements. */
const rowBytes = { record: 894, position: 189, minute: 152, move: 433 }

/**
 * Estimates the bytes that the organization stores from the counters of its records, minutes and moves, and from the sizes
 * of metadata and staged imports. The statement reads one row per asset and never the history.
 */
export async function estimateStoredBytes(tx: Tx, orgId: number): Promise<number> {
  const [row] = await tx.query<{ bytes: number }>(sql`
    select (
      (select coalesce(sum(active + inactive + deleted_active + deleted_inactive), 0) * ${rowBytes.record}
        from record_counts where org_id = ${orgId})
      + (select coalesce(sum(pg_column_size(metadata)), 0) from assets where org_id = ${orgId})
      + (select count(*) * ${rowBytes.position} + coalesce(sum(minutes), 0) * ${rowBytes.minute}
        from asset_positions where org_id = ${orgId})
      + (select coalesce(sum(arrivals), 0) * ${rowBytes.move} from location_move_counts where org_id = ${orgId})
      + (select coalesce(sum(bytes), 0) from imports where org_id = ${orgId} and state <> 'done')
    )::bigint as bytes`)
  return row!.bytes
}

export async function saveStoredBytes(tx: Tx, orgId: number, bytes: number): Promise<void> {
  await tx.query(sql`
    update organizations set stored_bytes = ${bytes} where org_id = ${orgId} and stored_bytes <> ${bytes}`)
}
