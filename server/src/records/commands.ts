import type { Tx } from '../db/database.ts'
import { nextUpdate, now } from '../kernel/clock.ts'
import { type KeyedNoun, type ApiError, apiError } from '../kernel/errors.ts'
import type { QuotaName } from '../kernel/quota.ts'
import type { TagOwner, Tag, TagDraft } from '../tags/tag.ts'
import { deleteTag, deleteTagsOf, insertTags } from '../tags/tags.sql.ts'
import { type RecordKind, incrementCreated, incrementDeleted, incrementActiveChanged } from './counts.sql.ts'
import type { RecordLoader } from './record-loader.ts'
import { generateKey } from './keys.sql.ts'
import {
  type RecordDeps,
  type RecordCore,
  type RecordDraft,
  type RecordRef,
  assertValidPeriod,
  searchText,
} from './record.ts'

/** The statements of one kind of record. All of them see live rows only. */
export interface Repository<R extends RecordCore> extends RecordLoader<R> {
  kind: RecordKind
  noun: KeyedNoun
  holder: (id: number) => TagOwner
  /** Holds the row until the transaction ends, against writers and against those who want to hang something on it. */
  lock: (tx: Tx, orgId: number, ref: RecordRef) => Promise<{ id: number } | null>
  /** False when the key is taken. */
  insert: (tx: Tx, orgId: number, record: R, search: string) => Promise<boolean>
  update: (tx: Tx, orgId: number, record: R, search: string) => Promise<void>
}

/** Why a record cannot be had: it lives in another organization, or nowhere. A key means nothing in another one. */
async function notFoundOrForbidden<R extends RecordCore>(
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

export async function getRecord<R extends RecordCore>(
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

/** A key may pass to another record while its lock is waited for, so what was locked is then found by its id. */
async function lockAndFind<R extends RecordCore>(tx: Tx, repository: Repository<R>, orgId: number, ref: RecordRef) {
  if (typeof ref === 'number') {
    const [, current] = await Promise.all([repository.lock(tx, orgId, ref), repository.find(tx, orgId, ref)])
    return current
  }
  const locked = await repository.lock(tx, orgId, ref)
  return locked === null ? null : repository.find(tx, orgId, locked.id)
}

/** Runs the work on the locked record. The lock comes first, so what is then read is what stays true. */
async function withRecord<R extends RecordCore, Result extends object>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
  work: (tx: Tx, current: R) => Promise<Result>,
  lockFirst: (tx: Tx) => Promise<void> = async () => undefined,
  absent: () => Promise<ApiError> | ApiError = () => notFoundOrForbidden(deps, repository, orgId, ref),
): Promise<Result> {
  const result = await deps.db.withTenant(orgId, async (tx) => {
    await lockFirst(tx)
    const current = await lockAndFind(tx, repository, orgId, ref)
    return current === null ? null : work(tx, current)
  })
  if (result === null) throw await absent()
  return result
}

/** The ids rise with the drafts, because tags of one moment are shown in the order of their ids. */
async function newTags(deps: RecordDeps, orgId: number, drafts: readonly TagDraft[]): Promise<Tag[]> {
  const ids = (await deps.ids.nextMany(orgId, drafts.length)).sort((a, b) => a - b)
  return drafts.map((draft, index) => ({ ...draft, id: ids[index]! }))
}

/**
 * Everything a new record is made of; false, and nothing is written, where its key is taken. All is asked at once, unless
 * something has to follow: it takes its locks before the total and the tags, as in a delete, so that no two wait for each
 * other.
 */
async function insertRecord<R extends RecordCore>(
  tx: Tx,
  repository: Repository<R>,
  orgId: number,
  record: R,
  afterInsert?: (tx: Tx, record: R) => Promise<void>,
): Promise<boolean> {
  const { id, tags, createdAt } = record
  const isFree = repository.insert(tx, orgId, record, searchText(record, tags))
  if (afterInsert !== undefined && (await isFree)) await afterInsert(tx, record)
  const rest = [incrementCreated(tx, orgId, repository.kind, id)]
  if (tags.length > 0) rest.push(insertTags(tx, orgId, repository.holder(id), tags, createdAt))
  await Promise.all([isFree, ...rest])
  return isFree
}

/** Makes the record with `insert`, which says null when the key is taken. */
async function newRecord<R extends RecordCore>(
  deps: RecordDeps,
  { kind, noun }: Repository<R>,
  orgId: number,
  draft: RecordDraft,
  insert: (core: RecordCore) => Promise<R | null>,
): Promise<R> {
  const at = now(deps.clock)
  const { name, description, isActive, validTo, validFrom = at } = draft
  assertValidPeriod(validFrom, validTo)
  const dates = { validFrom, validTo, createdAt: at, updatedAt: at, deletedAt: null }
  const id = await deps.ids.next(orgId)
  const tags = await newTags(deps, orgId, draft.tags)
  for (let tries = 0; ; tries++) {
    const externalKey = draft.externalKey ?? (await generateKey(deps.db, orgId, kind, tries > 0))
    const record = await insert({ id, externalKey, name, description, isActive, ...dates, tags })
    if (record !== null) return record
    // A generated key met one that somebody chose by hand: the next one is tried.
    if (draft.externalKey !== undefined) throw apiError.keyTaken(noun)
  }
}

const quotaOf = ({ kind }: { kind: RecordKind }): QuotaName => (kind === 'asset' ? 'assets' : 'locations')

/** `complete` adds what only this kind of record has. */
export const createRecord = <R extends RecordCore>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  draft: RecordDraft,
  complete: (core: RecordCore) => R,
): Promise<R> =>
  newRecord(deps, repository, orgId, draft, async (core) => {
    const record = complete(core)
    await deps.quotas.assertRoom(orgId, quotaOf(repository))
    const isFree = await deps.db.withTenantPipelined(orgId, (tx) => insertRecord(tx, repository, orgId, record))
    return isFree ? record : null
  })

/** `complete` looks things up in the same transaction; `follow` does what needs the record there. */
export const createInTransaction = <R extends RecordCore>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  draft: RecordDraft,
  complete: (tx: Tx, core: RecordCore) => Promise<R>,
  afterInsert?: (tx: Tx, record: R) => Promise<void>,
): Promise<R> =>
  newRecord(deps, repository, orgId, draft, (core) =>
    deps.db.withTenant(orgId, async (tx) => {
      const record = await complete(tx, core)
      await deps.quotas.assertRoom(orgId, quotaOf(repository))
      return (await insertRecord(tx, repository, orgId, record, afterInsert)) ? record : null
    }),
  )

/**
 * `change` sees the record as it is while nobody else can write it, and says how it shall be. A lock wider than the
 * record is taken first, so that two changes never wait for each other.
 */
export function changeRecord<R extends RecordCore>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
  change: (current: R, tx: Tx) => Promise<R> | R,
  lockFirst?: (tx: Tx) => Promise<void>,
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
  return withRecord(deps, repository, orgId, ref, write, lockFirst)
}

export interface Renamed<R> {
  record: R
  descendantCount: number
}

/** The same key again changes nothing, `updatedAt` included. */
export function renameRecord<R extends RecordCore>(
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

/** Soft: the row stays, its key and its tags are free from this moment. */
export async function deleteRecord<R extends RecordCore>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
  guard: (tx: Tx, id: number) => Promise<void>,
): Promise<void> {
  await withRecord(deps, repository, orgId, ref, async (tx, current) => {
    await guard(tx, current.id)
    const updatedAt = nextUpdate(deps.clock, current.updatedAt)
    const gone = { ...current, updatedAt, deletedAt: updatedAt }
    await Promise.all([
      repository.update(tx, orgId, gone, searchText(gone, [])),
      // The total before the tags, as in a create, so that the two never wait for each other.
      incrementDeleted(tx, orgId, repository.kind, current.isActive),
      deleteTagsOf(tx, orgId, repository.holder(current.id)),
    ])
    return gone
  })
}

export async function attachTag<R extends RecordCore>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
  draft: TagDraft,
): Promise<Tag> {
  const [tag] = await newTags(deps, orgId, [draft])
  return withRecord(deps, repository, orgId, ref, async (tx, current) => {
    await insertTags(tx, orgId, repository.holder(current.id), [tag!], now(deps.clock))
    await repository.update(tx, orgId, current, searchText(current, [...current.tags, draft]))
    return tag!
  })
}

/** A tag of another organization is not found, also under a record of that organization. */
export async function detachTag<R extends RecordCore>(
  deps: RecordDeps,
  repository: Repository<R>,
  orgId: number,
  ref: RecordRef,
  tagId: number,
): Promise<void> {
  const detach = async (tx: Tx, current: R): Promise<R> => {
    if (!(await deleteTag(tx, orgId, repository.holder(current.id), tagId))) throw apiError.notFound('Tag')
    const left = current.tags.filter((tag) => tag.id !== tagId)
    await repository.update(tx, orgId, current, searchText(current, left))
    return current
  }
  await withRecord(deps, repository, orgId, ref, detach, undefined, () => apiError.notFound(repository.noun))
}
