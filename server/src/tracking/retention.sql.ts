import type { Tx } from '../db/database.ts'
import { withCustomPlan } from '../db/plan-cache.ts'
import { sql } from '../db/sql.ts'
import { type Instant, toDatabase } from '../kernel/instant.ts'

const atOnce = 1000

/**
 * Takes the minutes before an instant out of the next assets' histories: from here on they neither show nor count,
 * though their rows are still there until the partition goes. Says whether there may be more to do.
 */
export async function deleteMinutesBefore(tx: Tx, orgId: number, before: Instant): Promise<boolean> {
  const at = toDatabase(before)
  const done = await tx.query(sql`
    with due as (
      select p.asset_id, p.history_from from asset_positions p
      where p.org_id = ${orgId} and (p.history_from is null or p.history_from < ${at})
      order by p.asset_id limit ${atOnce} for no key update
    ),
    old as (
      select due.asset_id, count(m.minute) as minutes from due
      left join asset_minutes m on m.org_id = ${orgId} and m.asset_id = due.asset_id and m.minute < ${at}
        and m.minute >= coalesce(due.history_from, '-infinity')
      group by due.asset_id
    )
    update asset_positions p set minutes = p.minutes - old.minutes, history_from = ${at}::timestamptz
    from old where p.org_id = ${orgId} and p.asset_id = old.asset_id
    returning p.asset_id`)
  return done.length === atOnce
}

/** Removes moves recorded before an instant, some at a time. Says whether there may be more to do. */
export async function deleteMovesBefore(tx: Tx, orgId: number, before: Instant): Promise<boolean> {
  await withCustomPlan(tx)
  const gone = await tx.query(sql`
    delete from moves m where m.org_id = ${orgId} and (m.recorded_at, m.delivery_id) in (
      select o.recorded_at, o.delivery_id from moves o
      where o.org_id = ${orgId} and o.recorded_at < ${toDatabase(before)}
      order by o.recorded_at limit ${atOnce})
    returning m.delivery_id`)
  return gone.length === atOnce
}
