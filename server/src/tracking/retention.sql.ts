import type { Tx } from '../db/database.ts'
import { withCustomPlan } from '../db/plan-cache.ts'
import { sql } from '../db/sql.ts'
import { type Instant, instantFromMillis, millisOf, toDatabase } from '../kernel/instant.ts'

const batchSize = 1000

/**
 * Removes the minutes before an instant from the histories of the next assets: they are no longer shown or counted, but
 * the rows remain until their partition is dropped. Returns whether there may be more.
 */
export async function deleteMinutesBefore(tx: Tx, orgId: number, before: Instant): Promise<boolean> {
  const at = toDatabase(before)
  const updated = await tx.query<{ asset_id: number }>(sql`
    with due as (
      select p.asset_id, p.history_from from asset_positions p
      where p.org_id = ${orgId} and (p.history_from is null or p.history_from < ${at})
      order by p.asset_id limit ${batchSize} for no key update
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
  const assetIds = updated.map((row) => row.asset_id)
  if (assetIds.length > 0) await tx.query(sql`select from correct_first_sightings(${orgId}, ${assetIds})`)
  return updated.length === batchSize
}

/**
 * The report at a past instant relies on the departures that are left only from an instant a day later, because a move may have
 * been observed after it was recorded: the clock of a reader may be ahead.
 */
const departuresMarginMs = 86_400_000

/** Deletes a batch of the moves recorded before an instant. Returns whether there may be more. */
export async function deleteMovesBefore(
  tx: Tx,
  orgId: number,
  before: Instant,
  marginMs = departuresMarginMs,
): Promise<boolean> {
  await withCustomPlan(tx)
  const deleted = await tx.query<{ from_location_id: number | null; to_location_id: number; occurred_at: string }>(sql`
    delete from moves m where m.org_id = ${orgId} and (m.recorded_at, m.delivery_id) in (
      select o.recorded_at, o.delivery_id from moves o
      where o.org_id = ${orgId} and o.recorded_at < ${toDatabase(before)}
      order by o.recorded_at limit ${batchSize})
    returning m.from_location_id, m.to_location_id, m.occurred_at`)
  if (deleted.length > 0) {
    await tx.query(sql`
      select from count_location_moves(${orgId}, ${deleted.map((row) => row.from_location_id)},
        ${deleted.map((row) => row.to_location_id)}, ${deleted.map((row) => row.occurred_at)}, -1)`)
    await advanceDepartures(tx, orgId, before, marginMs)
  }
  return deleted.length === batchSize
}

/** Deletes a batch of the departures without a move before an instant. Returns whether there may be more. */
export async function deleteDeparturesBefore(
  tx: Tx,
  orgId: number,
  before: Instant,
  marginMs = departuresMarginMs,
): Promise<boolean> {
  await withCustomPlan(tx)
  const deleted = await tx.query<{ asset_id: number }>(sql`
    delete from departures_without_move d
    where d.org_id = ${orgId} and (d.location_id, d.minute, d.asset_id) in (
      select o.location_id, o.minute, o.asset_id from departures_without_move o
      where o.org_id = ${orgId} and o.minute < ${toDatabase(before)} order by o.minute limit ${batchSize})
    returning d.asset_id`)
  if (deleted.length > 0) await advanceDepartures(tx, orgId, before, marginMs)
  return deleted.length === batchSize
}

/** Departures before the instant are no longer complete. */
const advanceDepartures = (tx: Tx, orgId: number, before: Instant, marginMs: number): Promise<unknown> => {
  const from = toDatabase(instantFromMillis(millisOf(before) + marginMs))
  return tx.query(sql`
    update organizations set departures_from = ${from}::timestamptz
    where org_id = ${orgId} and (departures_from is null or departures_from < ${from}::timestamptz)`)
}
