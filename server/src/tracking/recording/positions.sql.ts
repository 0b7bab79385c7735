import type { Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { fromDatabase } from '../../kernel/instant.ts'
import type { Position } from '../sighting.ts'

/** The current location of each asset that has been seen, and the minute of its latest sighting. */
export async function positionsOf(tx: Tx, orgId: number, assetIds: readonly number[]): Promise<Map<number, Position>> {
  const rows = await tx.query<{ asset_id: number; location_id: number | null; last_minute: string | null }>(sql`
    select asset_id, location_id, last_minute from asset_positions
    where org_id = ${orgId} and asset_id = any(${assetIds}::bigint[])`)
  return new Map(
    rows.flatMap(({ asset_id, location_id, last_minute }) =>
      last_minute === null ? [] : [[asset_id, { locationId: location_id, minute: fromDatabase(last_minute) }] as const],
    ),
  )
}
