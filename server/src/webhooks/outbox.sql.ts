import type { Database, Db, Tx } from '../db/database.ts'
import { withCustomPlan } from '../db/plan-cache.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import { type MoveRow, type RecordedMove, columns as moveColumns, moveOf } from '../tracking/moves.sql.ts'

/** A move that is this process's to deliver, and the time of delivery it belongs to. */
export interface Claimed {
  move: RecordedMove
  generation: number
}

/** Moves that are this process's to deliver, and where they go; null for none. */
export interface Claim {
  webhook: { id: number; url: string; encryptedSecret: Uint8Array; generation: number }
  claimed: Claimed[]
}

interface ClaimedRow extends MoveRow {
  generation: number
  webhook_id: number | null
  url: string
  encrypted_secret: Uint8Array
}

/**
 * Takes the oldest moves of the present generation, each exactly once whoever else asks at the same time: a row is locked and
 * taken off the list in one statement. Moves recorded before `notBefore` are left for `dropexpired`.
 */
export async function claimMoves(
  db: Database,
  orgId: number,
  request: { limit: number; notBefore: Instant },
): Promise<Claim | null> {
  // The generation is asked for apart: joined, the key would not give the oldest first, and all that wait would be sorted.
  // Rows are taken off by their place: joined by the key, a plan for many of them would read all that wait every time.
  // The webhook comes with one of the rows: it is the same for all of them.
  const claim = sql`
    with claimed as (
      delete from webhook_outbox d
      where d.org_id = ${orgId} and d.ctid = any(array(
        select o.ctid from webhook_outbox o
        where o.org_id = ${orgId} and o.generation = (select w.generation from webhooks w where w.org_id = ${orgId})
          and o.recorded_at >= ${toDatabase(request.notBefore)}
        order by o.recorded_at limit ${request.limit} for update skip locked
      ))
      returning d.generation, d.recorded_at as since, d.delivery_id as claimed_id
    ),
    taken as (
      select ${moveColumns}, claimed.generation, row_number() over () as number
      from claimed
      join moves m on m.org_id = ${orgId} and m.recorded_at = claimed.since and m.delivery_id = claimed.claimed_id
    )
    select taken.*, w.id as webhook_id, w.url, w.encrypted_secret
    from taken left join webhooks w on w.org_id = ${orgId} and taken.number = 1`
  const [, rows] = await db.withTenantPipelined(orgId, (tx) =>
    Promise.all([withCustomPlan(tx), tx.query<ClaimedRow>(claim)]),
  )
  const first = rows.find((row) => row.webhook_id !== null)
  if (first === undefined) return null
  const { webhook_id: id, url, encrypted_secret: encryptedSecret, generation } = first
  return {
    webhook: { id: id!, url, encryptedSecret, generation },
    claimed: rows.map((row) => ({ move: moveOf(row), generation: row.generation })),
  }
}

/** Whether something waits to be delivered, and whether something waits in vain; each is a step into the key. */
export async function findPendingMoves(
  db: Db,
  orgId: number,
  notBefore: Instant,
): Promise<{ isDue: boolean; isExpired: boolean }> {
  const waiting = sql`from webhook_outbox d where d.org_id = ${orgId}`
  const [row] = await db.query<{
    generation: number | null
    first: number | null
    last: number | null
    oldest: string | null
  }>(sql`
    select w.generation,
      (select d.generation ${waiting} order by d.generation limit 1) as first,
      (select d.generation ${waiting} order by d.generation desc limit 1) as last,
      (select d.recorded_at ${waiting} and d.generation = w.generation order by d.recorded_at limit 1) as oldest
    from webhooks w where w.org_id = ${orgId}`)
  if (row === undefined || row.first === null) return { isDue: false, isExpired: false }
  const isOver = row.first !== row.generation || row.last !== row.generation
  const isLate = row.oldest !== null && fromDatabase(row.oldest) < notBefore
  return { isDue: row.oldest !== null, isExpired: isOver || isLate }
}

const atOnce = 1000

/**
 * Gives up moves that nobody is to be told of any more: of a generation that is over, or recorded before `notBefore`.
 * `isMore` says that another round may find others.
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
      limit ${atOnce} for update skip locked
    ))
    returning d.recorded_at`)
  const late = dropped.filter((row) => fromDatabase(row.recorded_at) < notBefore).length
  return { late, switchedOff: dropped.length - late, isMore: dropped.length === atOnce }
}
