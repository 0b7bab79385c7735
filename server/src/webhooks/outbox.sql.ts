import type { Database, Db, Tx } from '../db/database.ts'
import { withCustomPlan } from '../db/plan-cache.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import type { Traceparent } from '../kernel/tracing.ts'
import { type MoveRow, type RecordedMove, columns as moveColumns, moveOf } from '../tracking/moves.sql.ts'

/** A move that this process must deliver. */
export interface Claimed {
  move: RecordedMove
  /** The generation of the webhook that the move was recorded for. */
  generation: number
  /** The span that recorded the move. */
  traceparent: Traceparent | null
}

/** Moves that this process must deliver, and the webhook to deliver them to. */
export interface Claim {
  webhook: { id: number; url: string; encryptedSecret: Uint8Array; generation: number }
  claimed: Claimed[]
}

interface ClaimedRow extends MoveRow {
  generation: number
  traceparent: string | null
  webhook_id: number | null
  url: string
  encrypted_secret: Uint8Array
}

/**
 * Claims the oldest moves of the current generation. Concurrent calls never claim the same move, because one statement
 * locks the row and deletes it from the outbox. Moves recorded before `notBefore` are left for `deleteExpired`.
 */
export async function claimMoves(
  db: Database,
  orgId: number,
  request: { limit: number; notBefore: Instant },
): Promise<Claim | null> {
  // The generation is a sub-select: with a join, the primary key would not yield the oldest rows first, and all pending rows
  // would be sorted. Rows are deleted by ctid: with a join on the key, the plan for many rows scans the whole outbox.
  // Only the first row carries the webhook, because it is the same for all rows.
  const claim = sql`
    with claimed as (
      delete from webhook_outbox d
      where d.org_id = ${orgId} and d.ctid = any(array(
        select o.ctid from webhook_outbox o
        where o.org_id = ${orgId} and o.generation = (select w.generation from webhooks w where w.org_id = ${orgId})
          and o.recorded_at >= ${toDatabase(request.notBefore)}
        order by o.recorded_at limit ${request.limit} for update skip locked
      ))
      returning d.generation, d.traceparent, d.recorded_at as since, d.delivery_id as claimed_id
    ),
    claimed_moves as (
      select ${moveColumns}, claimed.generation, claimed.traceparent, row_number() over () as number
      from claimed
      join moves m on m.org_id = ${orgId} and m.recorded_at = claimed.since and m.delivery_id = claimed.claimed_id
    )
    select c.*, w.id as webhook_id, w.url, w.encrypted_secret
    from claimed_moves c left join webhooks w on w.org_id = ${orgId} and c.number = 1`
  const [, rows] = await db.withTenantPipelined(orgId, (tx) =>
    Promise.all([withCustomPlan(tx), tx.query<ClaimedRow>(claim)]),
  )
  const first = rows.find((row) => row.webhook_id !== null)
  if (first === undefined) return null
  const { webhook_id: id, url, encrypted_secret: encryptedSecret, generation } = first
  return {
    webhook: { id: id!, url, encryptedSecret, generation },
    claimed: rows.map((row) => ({ move: moveOf(row), generation: row.generation, traceparent: row.traceparent })),
  }
}

/**
 * Whether the outbox has moves to deliver and expired moves, and when the oldest move to deliver was recorded. Each
 * sub-select is a single index lookup.
 */
export async function findPendingMoves(
  db: Db,
  orgId: number,
  notBefore: Instant,
): Promise<{ isDue: boolean; isExpired: boolean; oldest: Instant | null }> {
  const pending = sql`from webhook_outbox d where d.org_id = ${orgId}`
  const [row] = await db.query<{
    generation: number | null
    first: number | null
    last: number | null
    oldest: string | null
  }>(sql`
    select w.generation,
      (select d.generation ${pending} order by d.generation limit 1) as first,
      (select d.generation ${pending} order by d.generation desc limit 1) as last,
      (select d.recorded_at ${pending} and d.generation = w.generation order by d.recorded_at limit 1) as oldest
    from webhooks w where w.org_id = ${orgId}`)
  if (row === undefined || row.first === null) return { isDue: false, isExpired: false, oldest: null }
  const hasOldGeneration = row.first !== row.generation || row.last !== row.generation
  const oldest = row.oldest === null ? null : fromDatabase(row.oldest)
  const isLate = oldest !== null && oldest < notBefore
  return { isDue: oldest !== null, isExpired: hasOldGeneration || isLate, oldest }
}

const batchSize = 1000

/**
 * Deletes a batch of moves that must not be delivered any more: moves of an earlier generation, or recorded before
 * `notBefore`. `isMore` is true when there may be more.
 */
export async function deleteExpired(
  tx: Tx,
  orgId: number,
  notBefore: Instant,
): Promise<{ late: number; switchedOff: number; isMore: boolean }> {
  await withCustomPlan(tx)
  const dropped = await tx.query<{ recorded_at: string }>(sql`
    delete from webhook_outbox d
    where d.org_id = ${orgId} and d.ctid = any(array(
      select o.ctid from webhook_outbox o
      where o.org_id = ${orgId}
        and (o.recorded_at < ${toDatabase(notBefore)}
          or o.generation is distinct from (select w.generation from webhooks w where w.org_id = ${orgId}))
      limit ${batchSize} for update skip locked
    ))
    returning d.recorded_at`)
  const late = dropped.filter((row) => fromDatabase(row.recorded_at) < notBefore).length
  return { late, switchedOff: dropped.length - late, isMore: dropped.length === batchSize }
}
