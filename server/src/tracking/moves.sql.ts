import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'

/** A move with the names that the asset and the locations had when it was recorded. */
export interface RecordedMove {
  deliveryId: string
  assetId: number
  assetKey: string
  assetName: string
  from: { id: number; name: string } | null
  to: { id: number; name: string }
  occurredAt: Instant
  recordedAt: Instant
}

export interface MoveRow {
  delivery_id: string
  asset_id: number
  asset_external_key: string
  asset_name: string
  from_location_id: number | null
  from_location_name: string | null
  to_location_id: number
  to_location_name: string
  occurred_at: string
  recorded_at: string
}

export const moveOf = (row: MoveRow): RecordedMove => ({
  deliveryId: row.delivery_id,
  assetId: row.asset_id,
  assetKey: row.asset_external_key,
  assetName: row.asset_name,
  from: row.from_location_id === null ? null : { id: row.from_location_id, name: row.from_location_name ?? '' },
  to: { id: row.to_location_id, name: row.to_location_name },
  occurredAt: fromDatabase(row.occurred_at),
  recordedAt: fromDatabase(row.recorded_at),
})

export const columns = sql`delivery_id, asset_id, asset_external_key, asset_name, from_location_id, from_location_name,
  to_location_id, to_location_name, occurred_at, recorded_at`

/** The position of a move in the order in which moves were recorded. */
export interface MovePosition {
  recordedAt: Instant
  deliveryId: string
}

/** The positions of the latest moves since an instant, newest first. */
export async function latestPositions(db: Db, orgId: number, since: Instant, limit: number): Promise<MovePosition[]> {
  const rows = await db.query<{ recorded_at: string; delivery_id: string }>(sql`
    select recorded_at, delivery_id from moves where org_id = ${orgId} and recorded_at >= ${toDatabase(since)}
    order by recorded_at desc, delivery_id desc limit ${limit}`)
  return rows.map((row) => ({ recordedAt: fromDatabase(row.recorded_at), deliveryId: row.delivery_id }))
}

/** The moves at these positions, in their order. */
export async function movesAt(db: Db, orgId: number, positions: readonly MovePosition[]): Promise<RecordedMove[]> {
  const rows = await db.query<MoveRow>(sql`
    select ${columns} from unnest(${positions.map((one) => toDatabase(one.recordedAt))}::timestamptz[],
      ${positions.map((one) => one.deliveryId)}::uuid[]) p (recorded_at, delivery_id)
    join moves m using (recorded_at, delivery_id)
    where org_id = ${orgId} order by recorded_at, delivery_id`)
  return rows.map(moveOf)
}

/** The number of moves recorded since an instant, counted up to a limit. */
export async function countMovesSince(db: Db, orgId: number, since: Instant, limit: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*) as count from (
      select from moves where org_id = ${orgId} and recorded_at >= ${toDatabase(since)} limit ${limit}
    ) since`)
  return row!.count
}

/** The next moves after a position, in the order in which they were recorded. */
export async function movesAfter(db: Db, orgId: number, after: MovePosition, limit: number): Promise<RecordedMove[]> {
  const rows = await db.query<MoveRow>(sql`
    select ${columns} from moves
    where org_id = ${orgId}
      and (recorded_at, delivery_id) > (${toDatabase(after.recordedAt)}::timestamptz, ${after.deliveryId}::uuid)
    order by recorded_at, delivery_id limit ${limit}`)
  return rows.map(moveOf)
}

/** The organization's latest moves by the time at which they occurred, newest first. */
export async function latestMoves(db: Db, orgId: number, limit: number): Promise<RecordedMove[]> {
  const rows = await db.query<MoveRow>(sql`
    select ${columns} from moves where org_id = ${orgId} order by occurred_at desc, delivery_id desc limit ${limit}`)
  return rows.map(moveOf)
}
