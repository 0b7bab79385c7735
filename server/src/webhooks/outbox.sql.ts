import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import { type MoveRow, type RecordedMove, columns as moveColumns, moveOf } from '../tracking/moves.sql.ts'

/** A move that is this process's to deliver, and where it goes. */
export interface Claimed {
  move: RecordedMove
  webhookId: number
  url: string
  sealedSecret: Uint8Array
  period: number
}

interface ClaimedRow extends MoveRow {
  webhook_id: number
  url: string
  sealed_secret: Uint8Array
  period: number
}

/**
 * Takes the oldest moves of the present period, each exactly once whoever else asks at the same time: a row is locked,
 * looked at again and marked in one statement. Moves recorded before `notBefore` are left for `dropUndue`.
 */
export async function claimMoves(
  tx: Tx,
  orgId: number,
  request: { limit: number; at: Instant; notBefore: Instant },
): Promise<Claimed[]> {
  // The period is asked for apart: joined, the index would not give the oldest first, and all that wait would be sorted.
  const rows = await tx.query<ClaimedRow>(sql`
    with due as (
      select o.delivery_id as due_id from moves o
      where o.org_id = ${orgId} and o.claimed_at is null
        and o.period = (select w.period from webhooks w where w.org_id = ${orgId})
        and o.recorded_at >= ${toDatabase(request.notBefore)}
      order by o.recorded_at limit ${request.limit} for update skip locked
    )
    update moves m set claimed_at = ${toDatabase(request.at)} from due, webhooks w
    where m.org_id = ${orgId} and m.delivery_id = due.due_id and w.org_id = ${orgId}
    returning ${moveColumns}, m.period, w.id as webhook_id, w.url, w.sealed_secret`)
  return rows.map((row) => ({
    move: moveOf(row),
    webhookId: row.webhook_id,
    url: row.url,
    sealedSecret: row.sealed_secret,
    period: row.period,
  }))
}

/** Whether something waits to be delivered, and whether something waits in vain; each is a step into the index. */
export async function lookForMoves(
  db: Db,
  orgId: number,
  notBefore: Instant,
): Promise<{ isDue: boolean; isUndue: boolean }> {
  const waiting = sql`from moves m where m.org_id = ${orgId} and m.claimed_at is null and m.period is not null`
  const [row] = await db.query<{
    period: number | null
    first: number | null
    last: number | null
    oldest: string | null
  }>(sql`
    select w.period,
      (select m.period ${waiting} order by m.period limit 1) as first,
      (select m.period ${waiting} order by m.period desc limit 1) as last,
      (select m.recorded_at ${waiting} and m.period = w.period order by m.recorded_at limit 1) as oldest
    from webhooks w where w.org_id = ${orgId}`)
  if (row === undefined || row.first === null) return { isDue: false, isUndue: false }
  const isOver = row.first !== row.period || row.last !== row.period
  const isLate = row.oldest !== null && fromDatabase(row.oldest) < notBefore
  return { isDue: row.oldest !== null, isUndue: isOver || isLate }
}

const atOnce = 1000

/**
 * Gives up moves that nobody is to be told of any more: of a period that is over, or recorded before `notBefore`.
 * `isMore` says that another round may find others.
 */
export async function dropUndue(
  tx: Tx,
  orgId: number,
  notBefore: Instant,
): Promise<{ late: number; switchedOff: number; isMore: boolean }> {
  const dropped = await tx.query<{ recorded_at: string }>(sql`
    update moves m set period = null where m.org_id = ${orgId} and m.delivery_id in (
      select o.delivery_id from moves o
      where o.org_id = ${orgId} and o.claimed_at is null and o.period is not null
        and (o.recorded_at < ${toDatabase(notBefore)}
          or o.period is distinct from (select w.period from webhooks w where w.org_id = ${orgId}))
      limit ${atOnce} for update skip locked)
    returning m.recorded_at`)
  const late = dropped.filter((row) => fromDatabase(row.recorded_at) < notBefore).length
  return { late, switchedOff: dropped.length - late, isMore: dropped.length === atOnce }
}
