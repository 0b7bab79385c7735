import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, toDatabase } from '../kernel/instant.ts'

export const maxNoteLength = 1000

/** What an operator wrote when setting the location of assets. */
export interface SightingNote {
  saveId: number
  userId: number
  notedAt: Instant
  note: string
}

/** Stores the note with the minute that the save has just set, which is the latest one of each asset. */
export async function insertNotes(
  tx: Tx,
  orgId: number,
  locationId: number,
  assetIds: readonly number[],
  { saveId, userId, notedAt, note }: SightingNote,
): Promise<void> {
  await tx.query(sql`
    insert into sighting_notes (org_id, asset_id, minute, save_id, location_id, user_id, noted_at, note)
    select p.org_id, p.asset_id, p.last_minute, ${saveId}, ${locationId}, ${userId}, ${toDatabase(notedAt)}, ${note}
    from asset_positions p where p.org_id = ${orgId} and p.asset_id = any(${assetIds}::bigint[])
    on conflict (org_id, asset_id, minute, save_id) do nothing`)
}

const batchSize = 1000

/** Deletes a batch of the notes of minutes before an instant. Returns whether there may be more. */
export async function deleteNotesBefore(tx: Tx, orgId: number, before: Instant): Promise<boolean> {
  const deleted = await tx.query(sql`
    delete from sighting_notes n where n.org_id = ${orgId} and (n.asset_id, n.minute, n.save_id) in (
      select o.asset_id, o.minute, o.save_id from sighting_notes o
      where o.org_id = ${orgId} and o.minute < ${toDatabase(before)} order by o.minute limit ${batchSize})
    returning n.save_id`)
  return deleted.length === batchSize
}
