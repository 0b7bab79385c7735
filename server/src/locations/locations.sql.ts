import type { Db, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { toDatabase } from '../kernel/instant.ts'
import type { Page } from '../kernel/page.ts'
import type { Store } from '../records/commands.ts'
import { type CoreRow, type ListRequest, type RecordTable, coreColumns, listRecords } from '../records/list.sql.ts'
import { coreOf, foldRows } from '../records/rows.ts'
import { tagColumns, tagOrder } from '../tags/tags.sql.ts'
import type { Location } from './location.ts'

export interface LocationRow extends CoreRow {
  parent_id: number | null
  parent_external_key: string | null
}

export const locationColumns: Sql = sql`${coreColumns}, r.parent_id`
export const parentColumn: Sql = sql`parent.external_key as parent_external_key, `

const layout: RecordTable = {
  kind: 'location',
  table: sql`locations`,
  columns: locationColumns,
  pageColumns: parentColumn,
  pageJoins: (orgId) => sql`left join locations parent on parent.org_id = ${orgId} and parent.id = page.parent_id`,
  tagHolder: sql`t.location_id`,
}

export const locationOf = (row: LocationRow): Location => ({
  ...coreOf(row),
  parentId: row.parent_id,
  parentKey: row.parent_external_key,
})

async function findLocation(db: Db, orgId: number, id: number): Promise<Location | null> {
  const rows = await db.query<LocationRow>(sql`
    select ${locationColumns}, ${parentColumn}${tagColumns}
    from locations r
    left join locations parent on parent.org_id = ${orgId} and parent.id = r.parent_id
    left join tags t on t.org_id = ${orgId} and t.location_id = r.id
    where r.org_id = ${orgId} and r.id = ${id} and r.deleted_at is null
    order by ${tagOrder}`)
  return foldRows(rows, locationOf)[0] ?? null
}

async function lockLocation(tx: Tx, orgId: number, id: number): Promise<void> {
  await tx.query(
    sql`select from locations where org_id = ${orgId} and id = ${id} and deleted_at is null for no key update`,
  )
}

async function insertLocation(tx: Tx, orgId: number, location: Location, search: string): Promise<boolean> {
  const inserted = await tx.query(sql`
    insert into locations (org_id, id, external_key, name, description, parent_id, is_active, valid_from, valid_to,
      created_at, updated_at, search_text)
    values (${orgId}, ${location.id}, ${location.externalKey}, ${location.name}, ${location.description},
      ${location.parentId}, ${location.isActive}, ${toDatabase(location.validFrom)},
      ${location.validTo && toDatabase(location.validTo)}, ${toDatabase(location.createdAt)},
      ${toDatabase(location.updatedAt)}, ${search})
    on conflict (org_id, external_key) where deleted_at is null do nothing
    returning id`)
  return inserted.length === 1
}

async function updateLocation(tx: Tx, orgId: number, location: Location, search: string): Promise<void> {
  await tx.query(sql`
    update locations set external_key = ${location.externalKey}, name = ${location.name},
      description = ${location.description}, parent_id = ${location.parentId}, is_active = ${location.isActive},
      valid_from = ${toDatabase(location.validFrom)}, valid_to = ${location.validTo && toDatabase(location.validTo)},
      updated_at = ${toDatabase(location.updatedAt)},
      deleted_at = ${location.deletedAt && toDatabase(location.deletedAt)}, search_text = ${search}
    where org_id = ${orgId} and id = ${location.id}`)
}

export const locationStore: Store<Location> = {
  kind: 'location',
  noun: 'Location',
  holder: (id) => ({ locationId: id }),
  find: findLocation,
  lock: lockLocation,
  insert: insertLocation,
  update: updateLocation,
}

export interface LocationFilter {
  parentIds?: readonly number[] | undefined
  parentKeys?: readonly string[] | undefined
}

export async function listLocations(
  db: Db,
  orgId: number,
  request: ListRequest,
  { parentIds, parentKeys }: LocationFilter,
): Promise<Page<Location>> {
  const more: Sql[] = []
  if (parentIds !== undefined) more.push(sql`r.parent_id = any(${parentIds}::bigint[])`)
  if (parentKeys !== undefined)
    more.push(sql`r.parent_id in (
      select p.id from locations p
      where p.org_id = ${orgId} and p.deleted_at is null and p.external_key = any(${parentKeys}::text[]))`)
  const rows = await listRecords<LocationRow>(db, orgId, layout, request, more)
  return { rows: foldRows(rows, locationOf), total: rows[0]?.total ?? 0 }
}

/** The live locations behind an id, in the order of ids, whether or not they are valid now. */
export async function locationBatch(db: Db, orgId: number, after: number, limit: number): Promise<Location[]> {
  const rows = await db.query<LocationRow>(sql`
    with page as (
      select ${locationColumns} from locations r where r.org_id = ${orgId} and r.id > ${after} and r.deleted_at is null
      order by r.id limit ${limit}
    )
    select page.*, ${parentColumn}${tagColumns} from page
    left join locations parent on parent.org_id = ${orgId} and parent.id = page.parent_id
    left join tags t on t.org_id = ${orgId} and t.location_id = page.id
    order by page.id, ${tagOrder}`)
  return foldRows(rows, locationOf)
}
