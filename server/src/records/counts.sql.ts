import type { Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'

export type RecordKind = 'asset' | 'location'
/** Scanned assets are counted too, for the report's total. */
type CountedKind = RecordKind | 'position'

const shardCount = 16

/** The change of the number of records in each of the four counted states. */
interface CountChange {
  active?: number
  inactive?: number
  deletedActive?: number
  deletedInactive?: number
}

const randomShard = (): number => Math.floor(Math.random() * shardCount)

const addToStored: Sql = sql`
  on conflict (org_id, kind, shard) do update set
    active = stored.active + excluded.active,
    inactive = stored.inactive + excluded.inactive,
    deleted_active = stored.deleted_active + excluded.deleted_active,
    deleted_inactive = stored.deleted_inactive + excluded.deleted_inactive`

/** Adds the change to one of the organization's counter shards, in the same transaction, so that totals stay exact. */
async function incrementCounts(
  tx: Tx,
  orgId: number,
  kind: CountedKind,
  change: CountChange,
  shard = randomShard(),
): Promise<void> {
  const { active = 0, inactive = 0, deletedActive = 0, deletedInactive = 0 } = change
  await tx.query(sql`
    insert into record_counts as stored (org_id, kind, shard, active, inactive, deleted_active, deleted_inactive)
    values (${orgId}, ${kind}, ${shard}, ${active}, ${inactive}, ${deletedActive}, ${deletedInactive})
    ${addToStored}`)
}

export const incrementCreated = (tx: Tx, orgId: number, kind: RecordKind, isActive: boolean): Promise<void> =>
  incrementCounts(tx, orgId, kind, isActive ? { active: 1 } : { inactive: 1 })

export const incrementDeleted = (tx: Tx, orgId: number, kind: RecordKind, isActive: boolean): Promise<void> =>
  incrementCounts(tx, orgId, kind, isActive ? { active: -1, deletedActive: 1 } : { inactive: -1, deletedInactive: 1 })

export const incrementActiveChanged = (tx: Tx, orgId: number, kind: RecordKind, isActive: boolean): Promise<void> =>
  incrementCounts(tx, orgId, kind, isActive ? { active: 1, inactive: -1 } : { active: -1, inactive: 1 })

/** An import locks its counter shard until its transaction ends, so it uses a shard that no request uses. */
export const incrementImported = (
  tx: Tx,
  orgId: number,
  kind: RecordKind,
  change: { active: number; inactive: number },
): Promise<void> => incrementCounts(tx, orgId, kind, change, shardCount)

export const incrementScanned = (tx: Tx, orgId: number, change: { live: number; deleted: number }): Promise<void> =>
  incrementCounts(tx, orgId, 'position', { active: change.live, deletedActive: change.deleted })
