import type { Database, Db, Tx } from '../db/database.ts'
import { withCustomPlan } from '../db/plans.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import { type MoveRow, type RecordedMove, columns as moveColumns, moveOf } from '../tracking/moves.sql.ts'

/** A move that is this process's to deliver, and the time of delivery it belongs to. */
export interface Claimed {
  move: RecordedMove
  period: number
}

/** Moves that are this process's to deliver, and where they go; null for none. */
export interface Claim {
  webhook: { id: number; url: string; sealedSecret: Uint8Array; period: number }
  claimed: Claimed[]
}

interface ClaimedRow extends MoveRow {
  period: number
  webhook_id: number | null
  url: string
  sealed_secret: Uint8Array
}

/**
 * Takes the oldest moves of the present period, each exactly once whoever else asks at the same time: a row is locked and
 * taken off the list in one statement. Moves recorded before `notBefore` are left for `dropUndue`.
 */
export async function claimMoves(
  db: Database,
  orgId: number,
  request: { limit: number; notBefore: Instant },
): Promise<Claim | null> {
  // The period is asked for apart: joined, the key would not give the oldest first, and all that wait would be sorted.
  // Rows are taken off by their place: joined by the key, a plan for many of them would read all that wait every time.
  // The webhook comes with one of the rows: it is the same for all of them.
  const claim = sql`
    with claimed as (
      delete from due_moves d
      where d.org_id = ${orgId} and d.ctid = any(array(
        select o.ctid from due_moves o
        where o.org_id = ${orgId} and o.period = (select w.period from webhooks w where w.org_id = ${orgId})
          and o.recorded_at >= ${toDatabase(request.notBefore)}
        order by o.recorded_at limit ${request.limit} for update skip locked
      ))
      returning d.period, d.recorded_at as since, d.delivery_id as claimed_id
    ),
    taken as (
      select ${moveColumns}, claimed.period, row_number() over () as number
      from claimed
      join moves m on m.org_id = ${orgId} and m.recorded_at = claimed.since and m.delivery_id = claimed.claimed_id
    )
    select taken.*, w.id as webhook_id, w.url, w.sealed_secret
    from taken left join webhooks w on w.org_id = ${orgId} and taken.number = 1`
  const [, rows] = await db.sendInOrganization(orgId, (tx) =>
    Promise.all([withCustomPlan(tx), tx.query<ClaimedRow>(claim)]),
  )
  const first = rows.find((row) => row.webhook_id !== null)
  if (first === undefined) return null
  const { webhook_id: id, url, sealed_secret: sealedSecret, period } = first
  return {
    webhook: { id: id!, url, sealedSecret, period },
    claimed: rows.map((row) => ({ move: moveOf(row), period: row.period })),
  }
}

/** Whether something waits to be delivered, and whether something waits in vain; each is a step into the key. */
export async function lookForMoves(
  db: Db,
  orgId: number,
  notBefore: Instant,
): Promise<{ isDue: boolean; isUndue: boolean }> {
  const waiting = sql`from due_moves d where d.org_id = ${orgId}`
  const [row] = await db.query<{
    period: number | null
    first: number | null
    last: number | null
    oldest: string | null
  }>(sql`
    select w.period,
      (select d.period ${waiting} order by d.period limit 1) as first,
      (select d.period ${waiting} order by d.period desc limit 1) as last,
      (select d.recorded_at ${waiting} and d.period = w.period order by d.recorded_at limit 1) as oldest
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
  await withCustomPlan(tx)
  const dropped = await tx.query<{ recorded_at: string }>(sql`
    delete from due_moves d
    where d.org_id = ${orgId} and d.ctid = any(array(
      select o.ctid from due_moves o
      where o.org_id = ${orgId}
        and (o.recorded_at < ${toDatabase(notBefore)}
          or o.period is distinct from (select w.period from webhooks w where w.org_id = ${orgId}))
      limit ${atOnce} for update skip locked
    ))
    returning d.recorded_at`)
  const late = dropped.filter((row) => fromDatabase(row.recorded_at) < notBefore).length
  return { late, switchedOff: dropped.length - late, isMore: dropped.length === atOnce }
}
