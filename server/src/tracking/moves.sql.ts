import type { Db, Tx } from '../db/database.ts'
import { join, sql } from '../db/sql.ts'
import { Overtaken } from '../db/violations.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import { newUuid } from '../kernel/secrets.ts'
import type { Move } from './sighting.ts'

/** A move as it is announced: with the names of that moment. */
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

/**
 * Writes each move down with the names of this moment; an origin deleted meanwhile is no origin. A target deleted
 * meanwhile makes the transaction run again, so that no asset stays where nothing can be.
 */
export async function insertMoves(
  tx: Tx,
  orgId: number,
  moves: readonly Move[],
  recordedAt: Instant,
): Promise<RecordedMove[]> {
  if (moves.length === 0) return []
  const ids = moves.map(() => newUuid())
  const writing = tx.query<MoveRow>(sql`
    insert into moves as made (org_id, delivery_id, asset_id, asset_external_key, asset_name, from_location_id,
      from_location_name, to_location_id, to_location_name, occurred_at, recorded_at)
    select a.org_id, u.delivery_id, a.id, a.external_key, a.name, origin.id, origin.name, target.id, target.name,
      u.occurred_at, ${toDatabase(recordedAt)}::timestamptz
    from unnest(
      ${ids}::uuid[], ${moves.map((move) => move.assetId)}::bigint[],
      ${moves.map((move) => move.fromId)}::bigint[], ${moves.map((move) => move.toId)}::bigint[],
      ${moves.map((move) => toDatabase(move.occurredAt))}::timestamptz[]
    ) u (delivery_id, asset_id, from_id, to_id, occurred_at)
    join assets a on a.org_id = ${orgId} and a.id = u.asset_id
    join locations target on target.org_id = ${orgId} and target.id = u.to_id and target.deleted_at is null
    left join locations origin on origin.org_id = ${orgId} and origin.id = u.from_id and origin.deleted_at is null
    returning ${columns}`)
  const [rows] = await Promise.all([writing, markDue(tx, orgId, ids, recordedAt)])
  if (rows.length < moves.length) throw new Overtaken('a location was deleted while things were placed in it')
  return rows.map(moveOf)
}

/** Lists the moves as due in the webhook's period as this statement finds it; not at all when there is nobody to tell. */
async function markDue(tx: Tx, orgId: number, deliveryIds: readonly string[], recordedAt: Instant): Promise<void> {
  await tx.query(sql`
    insert into due_moves (org_id, period, recorded_at, delivery_id)
    select w.org_id, w.period, ${toDatabase(recordedAt)}::timestamptz, u.delivery_id
    from webhooks w cross join unnest(${deliveryIds}::uuid[]) u (delivery_id)
    where w.org_id = ${orgId} and w.period is not null
    on conflict (org_id, period, recorded_at, delivery_id) do nothing`)
}

/** The organization's latest moves, newest first, from an instant on. */
export async function recentMoves(db: Db, orgId: number, since: Instant, limit: number): Promise<RecordedMove[]> {
  const rows = await db.query<MoveRow>(sql`
    select ${columns} from moves where org_id = ${orgId} and recorded_at >= ${toDatabase(since)}
    order by recorded_at desc, delivery_id desc limit ${limit}`)
  return rows.map(moveOf)
}

export interface MovesRequest extends PageRequest {
  assetIds?: readonly number[] | undefined
  /** Moves to or from any of these. */
  locationIds?: readonly number[] | undefined
  from?: Instant | undefined
  to?: Instant | undefined
}

/** Newest first. */
export async function listMoves(db: Db, orgId: number, request: MovesRequest): Promise<Page<RecordedMove>> {
  const conditions = [sql`m.org_id = ${orgId}`]
  if (request.assetIds !== undefined) conditions.push(sql`m.asset_id = any(${request.assetIds}::bigint[])`)
  if (request.locationIds !== undefined)
    conditions.push(sql`(m.to_location_id = any(${request.locationIds}::bigint[])
      or m.from_location_id = any(${request.locationIds}::bigint[]))`)
  if (request.from !== undefined) conditions.push(sql`m.occurred_at >= ${toDatabase(request.from)}`)
  if (request.to !== undefined) conditions.push(sql`m.occurred_at <= ${toDatabase(request.to)}`)
  const chosen = join(conditions, sql` and `)
  const rows = await db.query<Omit<MoveRow, 'delivery_id'> & { total: number; delivery_id: string | null }>(sql`
    with total as (select count(*) as total from moves m where ${chosen}),
    page as (
      select ${columns} from moves m where ${chosen}
      order by m.occurred_at desc, m.delivery_id desc limit ${request.limit} offset ${request.offset}
    )
    select total.total, page.* from total left join page on true order by page.occurred_at desc, page.delivery_id desc`)
  const present = rows.filter((row): row is MoveRow & { total: number } => row.delivery_id !== null)
  return { rows: present.map(moveOf), total: rows[0]?.total ?? 0 }
}
