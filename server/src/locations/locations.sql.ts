import type { Db, Tx } from '../db/database.ts'
import { withGenericPlan } from '../db/plan-cache.ts'
import { type Sql, sql } from '../db/sql.ts'
import { toDatabase } from '../kernel/instant.ts'
import type { Page } from '../kernel/page.ts'
import { type BatchRequest, selectBatch } from '../records/batch.sql.ts'
import type { Repository } from '../records/commands.ts'
import {
  type RecordRow,
  createRecordLoader,
  recordColumns,
  recordRowColumns,
  whereRef,
  toRecord,
  groupRows,
} from '../records/load.sql.ts'
import { type ListRequest, type RecordTable, listRecords } from '../records/list.sql.ts'
import type { RecordRef } from '../records/record.ts'
import { orderTagRows, tagColumns, tagOrder } from '../tags/tags.sql.ts'
import type { Location, LocationWithPath } from './location.ts'

export interface LocationRow extends RecordRow {
  parent_id: number | null
  parent_external_key: string | null
  /** Only selected by `withPath`. */
  path_keys: string[]
}

export const locationColumns: Sql = sql`${recordColumns}, r.parent_id`
/** The same of a statement that ends with `orderTagRows`. */
const locationRowColumns: Sql = sql`${recordRowColumns}, r.parent_id`
export const parentColumn: Sql = sql`parent.external_key as parent_external_key, `

/** The columns that are read of a location, and how a row becomes an object. */
export interface RowMapping<L extends Location> {
  columns: (orgId: number, of: Sql) => Sql
  build: (row: LocationRow) => L
}

export const locationOf = (row: LocationRow): Location => ({
  ...toRecord(row),
  parentId: row.parent_id,
  parentKey: row.parent_external_key,
})

export const withoutPath: RowMapping<Location> = { columns: () => parentColumn, build: locationOf }

/** With the path, which is read upwards from each location of the result. */
export const withPath: RowMapping<LocationWithPath> = {
  columns: (orgId, of) => sql`${parentColumn}(${selectPathKeys(orgId, sql`${of}.id`)}) as path_keys, `,
  build: (row) => ({ ...locationOf(row), pathKeys: row.path_keys }),
}

const selectPathKeys = (orgId: number, id: Sql): Sql => sql`
  with recursive up as (
    select l.external_key, l.parent_id, 0 as steps from locations l where l.org_id = ${orgId} and l.id = ${id}
    union all
    select l.external_key, l.parent_id, up.steps + 1
    from up join locations l on l.org_id = ${orgId} and l.id = up.parent_id
  )
  select array_agg(up.external_key order by up.steps desc) from up`

export async function pathKeysOf(db: Db, orgId: number, id: number): Promise<string[]> {
  const [row] = await db.query<{ path_keys: string[] }>(
    sql`select (${selectPathKeys(orgId, sql`${id}::bigint`)}) as path_keys`,
  )
  return row!.path_keys
}

export const tableOf = (mapping: RowMapping<Location>): RecordTable => ({
  kind: 'location',
  name: sql`locations`,
  columns: locationColumns,
  rowColumns: locationRowColumns,
  pageColumns: (orgId) => mapping.columns(orgId, sql`r`),
  pageJoins: (orgId) => sql`left join locations parent on parent.org_id = ${orgId} and parent.id = r.parent_id`,
  tagOwnerId: sql`t.location_id`,
})

/** `where` is a condition on `r`. */
const createFinder =
  <L extends Location>(mapping: RowMapping<L>) =>
  async (db: Db, orgId: number, where: Sql): Promise<L[]> => {
    const rows = await db.query<LocationRow>(
      withGenericPlan(sql`
        select ${locationColumns}, ${mapping.columns(orgId, sql`r`)}${tagColumns}
        from locations r
        left join locations parent on parent.org_id = ${orgId} and parent.id = r.parent_id
        left join tags t on t.org_id = ${orgId} and t.location_id = r.id
        where ${where}
        order by r.id, ${tagOrder}`),
    )
    return groupRows(rows, mapping.build)
  }

async function lockLocation(tx: Tx, orgId: number, ref: RecordRef): Promise<{ id: number } | null> {
  const [row] = await tx.query<{ id: number }>(
    sql`select r.id from locations r where ${whereRef(orgId, ref)} for no key update`,
  )
  return row ?? null
}

async function insertLocation(tx: Tx, orgId: number, location: Location, search: string): Promise<void> {
  await tx.query(sql`
    insert into locations (org_id, id, external_key, name, description, parent_id, is_active, valid_from, valid_to,
      created_at, updated_at, search_text)
    values (${orgId}, ${location.id}, ${location.externalKey}, ${location.name}, ${location.description},
      ${location.parentId}, ${location.isActive}, ${toDatabase(location.validFrom)},
      ${location.validTo && toDatabase(location.validTo)}, ${toDatabase(location.createdAt)},
      ${toDatabase(location.updatedAt)}, ${search})`)
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

export const locationRepository: Repository<Location> = {
  kind: 'location',
  noun: 'Location',
  tagOwner: (id) => ({ locationId: id }),
  ...createRecordLoader(createFinder(withoutPath)),
  lock: lockLocation,
  insert: insertLocation,
  update: updateLocation,
}

export const locationWithPathRepository: Repository<LocationWithPath> = {
  ...locationRepository,
  ...createRecordLoader(createFinder(withPath)),
}

export interface LocationFilter {
  parentIds?: readonly number[] | undefined
  parentKeys?: readonly string[] | undefined
}

/** A deleted location shows the key of its deleted parent, so the filter by parent key must match it as well. */
export function parentConditions(
  orgId: number,
  { parentIds, parentKeys }: LocationFilter,
  includeDeleted: boolean | undefined,
): Sql[] {
  const conditions: Sql[] = []
  if (parentIds !== undefined) conditions.push(sql`r.parent_id = any(${parentIds}::bigint[])`)
  if (parentKeys !== undefined) {
    // Live and deleted rows have separate indexes.
    const parents = (liveness: Sql): Sql => sql`
      select p.id from locations p
      where p.org_id = ${orgId} and ${liveness} and p.external_key = any(${parentKeys}::text[])`
    const live = parents(sql`p.deleted_at is null`)
    const all = includeDeleted ? sql`${live} union all ${parents(sql`p.deleted_at is not null`)}` : live
    conditions.push(sql`r.parent_id in (${all})`)
  }
  return conditions
}

export async function listLocations<L extends Location>(
  db: Db,
  orgId: number,
  request: ListRequest,
  filter: LocationFilter,
  mapping: RowMapping<L>,
): Promise<Page<L>> {
  const include = parentConditions(orgId, filter, request.filter.includeDeleted)
  const rows = await listRecords<LocationRow>(db, orgId, tableOf(mapping), request, { include })
  return { rows: groupRows(rows, mapping.build), total: rows[0]?.total ?? 0 }
}

/** The next batch of live locations after an id, by id, regardless of their period of validity. */
export async function locationBatch(db: Db, orgId: number, request: BatchRequest): Promise<Location[]> {
  const rows = await db.query<LocationRow>(sql`
    with page as (${selectBatch(orgId, tableOf(withoutPath), request)})
    select ${locationRowColumns}, ${parentColumn}${tagColumns} from page r
    left join locations parent on parent.org_id = ${orgId} and parent.id = r.parent_id
    left join tags t on t.org_id = ${orgId} and t.location_id = r.id
    ${orderTagRows(sql`r.id`)}`)
  return groupRows(rows, locationOf)
}
