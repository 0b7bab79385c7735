import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** The filters, the order and the columns of a list under a name, as the page encodes them. */
export interface SavedView {
  id: number
  name: string
  search: string
}

export const maxSavedViews = 50

export function listSavedViews(db: Db, orgId: number, userId: number): Promise<SavedView[]> {
  return db.query<SavedView>(sql`
    select v.id, v.name, v.search from saved_views v where v.org_id = ${orgId} and v.user_id = ${userId}
    order by v.name limit ${maxSavedViews}`)
}

/** Replaces the user's view of the same name. Returns null when the user has the maximum number of views. */
export async function saveView(tx: Tx, orgId: number, userId: number, view: SavedView): Promise<SavedView | null> {
  const [row] = await tx.query<SavedView>(sql`
    insert into saved_views as v (org_id, id, user_id, name, search)
    select ${orgId}, ${view.id}::bigint, ${userId}::bigint, ${view.name}, ${view.search}
    from organizations o where o.org_id = ${orgId} and ${maxSavedViews} > (
      select count(*) from saved_views n
      where n.org_id = ${orgId} and n.user_id = ${userId} and n.name <> ${view.name})
    on conflict (org_id, user_id, name) do update set search = excluded.search
    returning v.id, v.name, v.search`)
  return row ?? null
}

/** Returns whether the user had the view. */
export async function deleteSavedView(tx: Tx, orgId: number, userId: number, id: number): Promise<boolean> {
  const deleted = await tx.query(sql`
    delete from saved_views where org_id = ${orgId} and id = ${id} and user_id = ${userId} returning id`)
  return deleted.length === 1
}

export async function deleteSavedViewsOf(tx: Tx, orgId: number, userId: number): Promise<void> {
  await tx.query(sql`delete from saved_views where org_id = ${orgId} and user_id = ${userId}`)
}
