import type { Tx } from '../db/database.ts'
import { nextUpdate, now } from '../kernel/clock.ts'
import { type KeyedNoun, type Refusal, refuse } from '../kernel/errors.ts'
import type { QuotaName } from '../kernel/quota.ts'
import type { Holder, Tag, TagDraft } from '../tags/tag.ts'
import { deleteTag, deleteTagsOf, insertTags } from '../tags/tags.sql.ts'
import { type RecordKind, bookCreated, bookDeleted, bookSwitched } from './counts.sql.ts'
import type { Finders } from './finders.ts'
import { takeKey } from './keys.sql.ts'
import {
  type Needs,
  type RecordCore,
  type RecordDraft,
  type RecordRef,
  refuseEmptyWindow,
  searchText,
} from './record.ts'

/** The statements of one kind of record. All of them see live rows only. */
export interface Store<R extends RecordCore> extends Finders<R> {
  kind: RecordKind
  noun: KeyedNoun
  holder: (id: number) => Holder
  /** Holds the row until the transaction ends, against writers and against those who want to hang something on it. */
  lock: (tx: Tx, orgId: number, ref: RecordRef) => Promise<{ id: number } | null>
  /** False when the key is taken. */
  insert: (tx: Tx, orgId: number, record: R, search: string) => Promise<boolean>
  update: (tx: Tx, orgId: number, record: R, search: string) => Promise<void>
}

/** Why a record cannot be had: it lives in another organization, or nowhere. A key means nothing in another one. */
async function missing<R extends RecordCore>(
  needs: Needs,
  store: Store<R>,
  orgId: number,
  ref: RecordRef,
): Promise<Refusal> {
  const owner = typeof ref === 'number' ? await needs.ids.ownerOf(ref) : null
  const isForeign = owner !== null && owner !== orgId && (await store.find(needs.db.read, owner, ref)) !== null
  return isForeign ? refuse.forbidden(`${store.noun} belongs to another organization`) : refuse.notFound(store.noun)
}

export async function getRecord<R extends RecordCore>(needs: Needs, store: Store<R>, orgId: number, ref: RecordRef) {
  const record = await (typeof ref === 'number'
    ? store.load(needs.db.read, orgId, ref)
    : store.find(needs.db.read, orgId, ref))
  if (record === null) throw await missing(needs, store, orgId, ref)
  return record
}

/** A key may pass to another record while its lock is waited for, so what was locked is then found by its id. */
async function lockAndFind<R extends RecordCore>(tx: Tx, store: Store<R>, orgId: number, ref: RecordRef) {
  if (typeof ref === 'number') {
    const [, current] = await Promise.all([store.lock(tx, orgId, ref), store.find(tx, orgId, ref)])
    return current
  }
  const locked = await store.lock(tx, orgId, ref)
  return locked === null ? null : store.find(tx, orgId, locked.id)
}

/** Runs the work on the locked record. The lock comes first, so what is then read is what stays true. */
async function withRecord<R extends RecordCore, Result extends object>(
  needs: Needs,
  store: Store<R>,
  orgId: number,
  ref: RecordRef,
  work: (tx: Tx, current: R) => Promise<Result>,
  lockFirst: (tx: Tx) => Promise<void> = async () => undefined,
  absent: () => Promise<Refusal> | Refusal = () => missing(needs, store, orgId, ref),
): Promise<Result> {
  const result = await needs.db.inOrganization(orgId, async (tx) => {
    await lockFirst(tx)
    const current = await lockAndFind(tx, store, orgId, ref)
    return current === null ? null : work(tx, current)
  })
  if (result === null) throw await absent()
  return result
}

/** The ids rise with the drafts, because tags of one moment are shown in the order of their ids. */
async function newTags(needs: Needs, orgId: number, drafts: readonly TagDraft[]): Promise<Tag[]> {
  const ids = (await needs.ids.many(orgId, drafts.length)).sort((a, b) => a - b)
  return drafts.map((draft, index) => ({ ...draft, id: ids[index]! }))
}

/**
 * Everything a new record is made of; false, and nothing is written, where its key is taken. All is asked at once, unless
 * something has to follow: it takes its locks before the total and the tags, as in a delete, so that no two wait for each
 * other.
 */
async function insertRecord<R extends RecordCore>(
  tx: Tx,
  store: Store<R>,
  orgId: number,
  record: R,
  follow?: (tx: Tx, record: R) => Promise<void>,
): Promise<boolean> {
  const { id, tags, createdAt } = record
  const isFree = store.insert(tx, orgId, record, searchText(record, tags))
  if (follow !== undefined && (await isFree)) await follow(tx, record)
  const rest = [bookCreated(tx, orgId, store.kind, id)]
  if (tags.length > 0) rest.push(insertTags(tx, orgId, store.holder(id), tags, createdAt))
  await Promise.all([isFree, ...rest])
  return isFree
}

/** Makes the record with `insert`, which says null when the key is taken. */
async function newRecord<R extends RecordCore>(
  needs: Needs,
  { kind, noun }: Store<R>,
  orgId: number,
  draft: RecordDraft,
  insert: (core: RecordCore) => Promise<R | null>,
): Promise<R> {
  const at = now(needs.clock)
  const { name, description, isActive, validTo, validFrom = at } = draft
  refuseEmptyWindow(validFrom, validTo)
  const dates = { validFrom, validTo, createdAt: at, updatedAt: at, deletedAt: null }
  const id = await needs.ids.next(orgId)
  const tags = await newTags(needs, orgId, draft.tags)
  for (let tries = 0; ; tries++) {
    const externalKey = draft.externalKey ?? (await takeKey(needs.db, orgId, kind, tries > 0))
    const record = await insert({ id, externalKey, name, description, isActive, ...dates, tags })
    if (record !== null) return record
    // A generated key met one that somebody chose by hand: the next one is tried.
    if (draft.externalKey !== undefined) throw refuse.keyTaken(noun)
  }
}

const quotaOf = ({ kind }: { kind: RecordKind }): QuotaName => (kind === 'asset' ? 'assets' : 'locations')

/** `complete` adds what only this kind of record has. */
export const createRecord = <R extends RecordCore>(
  needs: Needs,
  store: Store<R>,
  orgId: number,
  draft: RecordDraft,
  complete: (core: RecordCore) => R,
): Promise<R> =>
  newRecord(needs, store, orgId, draft, async (core) => {
    const record = complete(core)
    await needs.quotas.assertRoom(orgId, quotaOf(store))
    const isFree = await needs.db.sendInOrganization(orgId, (tx) => insertRecord(tx, store, orgId, record))
    return isFree ? record : null
  })

/** `complete` looks things up in the same transaction; `follow` does what needs the record there. */
export const createRecordAmong = <R extends RecordCore>(
  needs: Needs,
  store: Store<R>,
  orgId: number,
  draft: RecordDraft,
  complete: (tx: Tx, core: RecordCore) => Promise<R>,
  follow?: (tx: Tx, record: R) => Promise<void>,
): Promise<R> =>
  newRecord(needs, store, orgId, draft, (core) =>
    needs.db.inOrganization(orgId, async (tx) => {
      const record = await complete(tx, core)
      await needs.quotas.assertRoom(orgId, quotaOf(store))
      return (await insertRecord(tx, store, orgId, record, follow)) ? record : null
    }),
  )

/**
 * `change` sees the record as it is while nobody else can write it, and says how it shall be. A lock wider than the
 * record is taken first, so that two changes never wait for each other.
 */
export function changeRecord<R extends RecordCore>(
  needs: Needs,
  store: Store<R>,
  orgId: number,
  ref: RecordRef,
  change: (current: R, tx: Tx) => Promise<R> | R,
  lockFirst?: (tx: Tx) => Promise<void>,
): Promise<R> {
  const write = async (tx: Tx, current: R): Promise<R> => {
    const changed = await change(current, tx)
    refuseEmptyWindow(changed.validFrom, changed.validTo)
    const next = { ...changed, updatedAt: nextUpdate(needs.clock, current.updatedAt) }
    const writes = [store.update(tx, orgId, next, searchText(next, next.tags))]
    if (next.isActive !== current.isActive) writes.push(bookSwitched(tx, orgId, store.kind, next.isActive))
    await Promise.all(writes)
    return next
  }
  return withRecord(needs, store, orgId, ref, write, lockFirst)
}

export interface Renamed<R> {
  record: R
  descendantCount: number
}

/** The same key again changes nothing, `updatedAt` included. */
export function renameRecord<R extends RecordCore>(
  needs: Needs,
  store: Store<R>,
  orgId: number,
  ref: RecordRef,
  externalKey: string,
  countDescendants: (tx: Tx, id: number) => Promise<number> = async () => 0,
): Promise<Renamed<R>> {
  return withRecord(needs, store, orgId, ref, async (tx, current) => {
    if (current.externalKey === externalKey) return { record: current, descendantCount: 0 }
    const record = { ...current, externalKey, updatedAt: nextUpdate(needs.clock, current.updatedAt) }
    await store.update(tx, orgId, record, searchText(record, record.tags))
    return { record, descendantCount: await countDescendants(tx, current.id) }
  })
}

/** Soft: the row stays, its key and its tags are free from this moment. */
export async function deleteRecord<R extends RecordCore>(
  needs: Needs,
  store: Store<R>,
  orgId: number,
  ref: RecordRef,
  guard: (tx: Tx, id: number) => Promise<void>,
): Promise<void> {
  await withRecord(needs, store, orgId, ref, async (tx, current) => {
    await guard(tx, current.id)
    const updatedAt = nextUpdate(needs.clock, current.updatedAt)
    const gone = { ...current, updatedAt, deletedAt: updatedAt }
    await Promise.all([
      store.update(tx, orgId, gone, searchText(gone, [])),
      // The total before the tags, as in a create, so that the two never wait for each other.
      bookDeleted(tx, orgId, store.kind, current.isActive),
      deleteTagsOf(tx, orgId, store.holder(current.id)),
    ])
    return gone
  })
}

export async function attachTag<R extends RecordCore>(
  needs: Needs,
  store: Store<R>,
  orgId: number,
  ref: RecordRef,
  draft: TagDraft,
): Promise<Tag> {
  const [tag] = await newTags(needs, orgId, [draft])
  return withRecord(needs, store, orgId, ref, async (tx, current) => {
    await insertTags(tx, orgId, store.holder(current.id), [tag!], now(needs.clock))
    await store.update(tx, orgId, current, searchText(current, [...current.tags, draft]))
    return tag!
  })
}

/** A tag of another organization is not found, also under a record of that organization. */
export async function detachTag<R extends RecordCore>(
  needs: Needs,
  store: Store<R>,
  orgId: number,
  ref: RecordRef,
  tagId: number,
): Promise<void> {
  const detach = async (tx: Tx, current: R): Promise<R> => {
    if (!(await deleteTag(tx, orgId, store.holder(current.id), tagId))) throw refuse.notFound('Tag')
    const left = current.tags.filter((tag) => tag.id !== tagId)
    await store.update(tx, orgId, current, searchText(current, left))
    return current
  }
  await withRecord(needs, store, orgId, ref, detach, undefined, () => refuse.notFound(store.noun))
}
