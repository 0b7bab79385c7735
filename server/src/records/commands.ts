import type { Tx } from '../db/database.ts'
import { nextUpdate, now } from '../kernel/clock.ts'
import { ApiError, type KeyedNoun, apiError } from '../kernel/errors.ts'
import type { StoredQuota } from '../kernel/quota.ts'
import { type TagOwner, type Tag, type TagDraft, maxTagsPerRecord } from '../tags/tag.ts'
import { deleteTag, deleteTagsOf, insertTags } from '../tags/tags.sql.ts'
import { type RecordKind, incrementCreated, incrementDeleted, incrementActiveChanged } from './counts.sql.ts'
import type { RecordLoader } from './load.sql.ts'
import { generateKey } from './keys.sql.ts'
import {
  type RecordDeps,
  type BaseRecord,
  type RecordDraft,
  type RecordRef,
  assertValidPeriod,
  searchText,
} from './record.ts'

/** The statements of one kind of record. All of them see live rows only. */
export interface Repository<R extends BaseRecord> extends RecordLoader<R> {
  kind: RecordKind
  noun: KeyedNoun
  tagOwner: (id: number) => TagOwner
  /** Locks the row until the transaction ends, against writers and against transactions that attach something to it. */
  lock: (tx: Tx, orgId: number, ref: RecordRef) => Promise<{ id: number } | null>
  /** Fails with a conflict when the key is in use. */
  insert: (tx: Tx, orgId: number, record: R, search: string) => Promise<void>
  update: (tx: Tx, orgId: number, record: R, search: string) => Promise<void>
}

/** Forbidden when the id belongs to another organization, otherwise not found. Keys are never looked up elsewhere. */
async function notFoundOrForbidden<R extends BaseRecord>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
): Promise<ApiError> {
  const owner = typeof ref === 'number' ? await deps.ids.ownerOf(ref) : null
  const isForeign = owner !== null && owner !== orgId && (await repository.find(deps.db.read, owner, ref)) !== null
  return isForeign
    ? apiError.forbidden(`${repository.noun} belongs to another organization`)
    : apiError.notFound(repository.noun)
}

export async function getRecord<R extends BaseRecord>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
) {
  const record = await (typeof ref === 'number'
    ? repository.load(deps.db.read, orgId, ref)
    : repository.find(deps.db.read, orgId, ref))
  if (record === null) throw await notFoundOrForbidden(deps, repository, orgId, ref)
  return record
}

/** A key may pass to another record while the lock is awaited, so the locked record is then read by its id. */
async function lockAndFind<R extends BaseRecord>(tx: Tx, repository: Repository<R>, orgId: number, ref: RecordRef) {
  if (typeof ref === 'number') {
    const [, current] = await Promise.all([repository.lock(tx, orgId, ref), repository.find(tx, orgId, ref)])
    return current
  }
  const locked = await repository.lock(tx, orgId, ref)
  return locked === null ? null : repository.find(tx, orgId, locked.id)
}

interface RecordHooks {
  /** Takes locks wider than the record before it is locked, to avoid deadlocks. */
  lockFirst?: ((tx: Tx) => Promise<void>) | undefined
  /** The error when there is no such record. */
  notFound?: () => Promise<ApiError>
}

/** Runs the work on the locked record. It is locked before it is read, so it cannot change afterwards. */
async function withRecord<R extends BaseRecord, Result extends object>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
  work: (tx: Tx, current: R) => Promise<Result>,
  { lockFirst, notFound = () => notFoundOrForbidden(deps, repository, orgId, ref) }: RecordHooks = {},
): Promise<Result> {
  const result = await deps.db.withTenant(orgId, async (tx) => {
    await lockFirst?.(tx)
    const current = await lockAndFind(tx, repository, orgId, ref)
    return current === null ? null : work(tx, current)
  })
  if (result === null) throw await notFound()
  return result
}

/** The ids ascend in the order of the drafts, because tags with the same creation time are listed by id. */
async function newTags(deps: RecordDeps, orgId: number, drafts: readonly TagDraft[]): Promise<Tag[]> {
  const ids = (await deps.ids.nextMany(orgId, drafts.length)).sort((a, b) => a - b)
  return drafts.map((draft, index) => ({ ...draft, id: ids[index]! }))
}

/**
 * Inserts a record with its tags and counts it. All statements are sent at once, except after `afterInsert`: its locks come
 * before those of the count and the tags, as in a delete, to avoid deadlocks.
 */
async function insertRecord<R extends BaseRecord>(
  tx: Tx,
  repository: Repository<R>,
  orgId: number,
  record: R,
  afterInsert?: (tx: Tx, record: R) => Promise<void>,
): Promise<void> {
  const { id, tags, createdAt, isActive } = record
  const inserted = repository.insert(tx, orgId, record, searchText(record, tags))
  if (afterInsert !== undefined) {
    await inserted
    await afterInsert(tx, record)
  }
  const writes = [inserted, incrementCreated(tx, orgId, repository.kind, isActive)]
  if (tags.length > 0) writes.push(insertTags(tx, orgId, repository.tagOwner(id), tags, createdAt))
  await Promise.all(writes)
}

const isKeyTaken = (error: unknown): boolean => error instanceof ApiError && error.keyTakenBy !== undefined

async function newRecord<R extends BaseRecord>(
  deps: RecordDeps,
  { kind }: Repository<R>,
  orgId: number,
  draft: RecordDraft,
  insert: (base: BaseRecord) => Promise<R>,
): Promise<R> {
  const at = now(deps.clock)
  const { name, description, isActive, validTo, validFrom = at } = draft
  assertValidPeriod(validFrom, validTo)
  const dates = { validFrom, validTo, createdAt: at, updatedAt: at, deletedAt: null }
  const id = await deps.ids.next(orgId)
  const tags = await newTags(deps, orgId, draft.tags)
  for (let attempts = 0; ; attempts++) {
    const externalKey = draft.externalKey ?? (await generateKey(deps.db, orgId, kind, attempts > 0))
    try {
      return await insert({ id, externalKey, name, description, isActive, ...dates, tags })
    } catch (error) {
      // The generated key is already in use as an explicit key: try the next one.
      if (draft.externalKey !== undefined || !isKeyTaken(error)) throw error
    }
  }
}

const quotaOf = ({ kind }: { kind: RecordKind }): StoredQuota => (kind === 'asset' ? 'assets' : 'locations')

/** `complete` adds the fields specific to this kind of record. */
export const createRecord = <R extends BaseRecord>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  draft: RecordDraft,
  complete: (base: BaseRecord) => R,
): Promise<R> =>
  newRecord(deps, repository, orgId, draft, async (base) => {
    const record = complete(base)
    await deps.quotas.assertRoom(orgId, quotaOf(repository))
    await deps.db.withTenantPipelined(orgId, (tx) => insertRecord(tx, repository, orgId, record))
    return record
  })

/** `complete` may query in the same transaction; `afterInsert` runs when the record exists. */
export const createInTransaction = <R extends BaseRecord>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  draft: RecordDraft,
  complete: (tx: Tx, base: BaseRecord) => Promise<R>,
  afterInsert?: (tx: Tx, record: R) => Promise<void>,
): Promise<R> =>
  newRecord(deps, repository, orgId, draft, (base) =>
    deps.db.withTenant(orgId, async (tx) => {
      const record = await complete(tx, base)
      await deps.quotas.assertRoom(orgId, quotaOf(repository))
      await insertRecord(tx, repository, orgId, record, afterInsert)
      return record
    }),
  )

/** `change` receives the locked record and returns its new state. */
export function changeRecord<R extends BaseRecord>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
  change: (current: R, tx: Tx) => Promise<R>,
  lockFirst?: RecordHooks['lockFirst'],
): Promise<R> {
  const write = async (tx: Tx, current: R): Promise<R> => {
    const changed = await change(current, tx)
    assertValidPeriod(changed.validFrom, changed.validTo)
    const next = { ...changed, updatedAt: nextUpdate(deps.clock, current.updatedAt) }
    const writes = [repository.update(tx, orgId, next, searchText(next, next.tags))]
    if (next.isActive !== current.isActive)
      writes.push(incrementActiveChanged(tx, orgId, repository.kind, next.isActive))
    await Promise.all(writes)
    return next
  }
  return withRecord(deps, repository, orgId, ref, write, { lockFirst })
}

export interface Renamed<R> {
  record: R
  descendantCount: number
}

/** Renaming to the current key changes nothing, including `updatedAt`. */
export function renameRecord<R extends BaseRecord>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
  externalKey: string,
  countDescendants: (tx: Tx, id: number) => Promise<number> = async () => 0,
): Promise<Renamed<R>> {
  return withRecord(deps, repository, orgId, ref, async (tx, current) => {
    if (current.externalKey === externalKey) return { record: current, descendantCount: 0 }
    const record = { ...current, externalKey, updatedAt: nextUpdate(deps.clock, current.updatedAt) }
    await repository.update(tx, orgId, record, searchText(record, record.tags))
    return { record, descendantCount: await countDescendants(tx, current.id) }
  })
}

/** Soft delete: the row stays, its key and its tags become available again. */
export async function deleteRecord<R extends BaseRecord>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
  guard: (tx: Tx, id: number) => Promise<void>,
): Promise<void> {
  await withRecord(deps, repository, orgId, ref, async (tx, current) => {
    await guard(tx, current.id)
    const updatedAt = nextUpdate(deps.clock, current.updatedAt)
    const deletedRecord = { ...current, updatedAt, deletedAt: updatedAt }
    await Promise.all([
      repository.update(tx, orgId, deletedRecord, searchText(deletedRecord, [])),
      // The count before the tags, as in a create, to avoid deadlocks.
      incrementDeleted(tx, orgId, repository.kind, current.isActive),
      deleteTagsOf(tx, orgId, repository.tagOwner(current.id)),
    ])
    return deletedRecord
  })
}

export async function attachTag<R extends BaseRecord>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
  draft: TagDraft,
): Promise<Tag> {
  const [tag] = await newTags(deps, orgId, [draft])
  return withRecord(deps, repository, orgId, ref, async (tx, current) => {
    if (current.tags.length >= maxTagsPerRecord)
      throw apiError.conflict(`${repository.noun} already has ${maxTagsPerRecord} tags, the maximum`)
    await deps.quotas.assertRoom(orgId, 'stored_bytes')
    await insertTags(tx, orgId, repository.tagOwner(current.id), [tag!], now(deps.clock))
    await repository.update(tx, orgId, current, searchText(current, [...current.tags, draft]))
    return tag!
  })
}

/** A tag of another organization is not found, even under a record of that organization. */
export async function detachTag<R extends BaseRecord>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
  tagId: number,
): Promise<void> {
  const detach = async (tx: Tx, current: R): Promise<R> => {
    if (!(await deleteTag(tx, orgId, repository.tagOwner(current.id), tagId))) throw apiError.notFound('Tag')
    const remaining = current.tags.filter((tag) => tag.id !== tagId)
    await repository.update(tx, orgId, current, searchText(current, remaining))
    return current
  }
  const notFound = async (): Promise<ApiError> => apiError.notFound(repository.noun)
  await withRecord(deps, repository, orgId, ref, detach, { notFound })
}
