import type { Tx } from '../db/database.ts'
import { apiError } from '../kernel/errors.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import {
  type Renamed,
  changeRecord,
  createInTransaction,
  deleteRecord,
  getRecord,
  renameRecord,
} from '../records/commands.ts'
import { applyPatch } from '../records/patch.ts'
import { type RecordDeps, type RecordRef, assertValidPeriod } from '../records/record.ts'
import { InvalidReferenceError, type ReferenceProblem } from '../records/reference-error.ts'
import {
  type Location,
  type LocationDraft,
  type LocationPatch,
  type ParentRef,
  type LocationWithPath,
  maxTreeLevels,
  namesParent,
  tooManyLevels,
} from './location.ts'
import { type RowMapping, locationRepository, pathKeysOf } from './locations.sql.ts'
import {
  type TreeRelation,
  countDescendants,
  countLevels,
  lockParentForShare,
  isSelfOrAncestor,
  listTreeRelationPage,
  lockLocation,
  lockTree,
  lockTreeForShare,
  countDependents,
} from './tree.sql.ts'

/** Adds the path to a location that was just written. */
export const withPathKeys = async (deps: RecordDeps, orgId: number, location: Location): Promise<LocationWithPath> => ({
  ...location,
  pathKeys: await pathKeysOf(deps.db.read, orgId, location.id),
})

type Parent = Pick<Location, 'parentId' | 'parentKey'>

interface ResolvedParent extends Parent {
  /** 1 for a parent that is a root, 0 without a parent. */
  level: number
}

const noParent: ResolvedParent = { parentId: null, parentKey: null, level: 0 }

type NamedBy = ReferenceProblem['by']

const parentError = (code: ReferenceProblem['code'], ...[first, ...rest]: [NamedBy, ...NamedBy[]]) => {
  const problem = (by: NamedBy): ReferenceProblem => ({ field: 'parent', by, code })
  return new InvalidReferenceError(problem(first), ...rest.map(problem))
}

/** Resolves a parent by id, key or both. An unknown parent is reported before a contradiction of id and key. */
async function resolveParent(tx: Tx, orgId: number, ref: ParentRef): Promise<ResolvedParent> {
  const byId = ref.id == null ? null : await lockParentForShare(tx, orgId, ref.id)
  const byKey = ref.key == null ? null : await lockParentForShare(tx, orgId, { key: ref.key })
  const isIdUnknown = ref.id != null && byId === null
  const isKeyUnknown = ref.key != null && byKey === null
  if (isIdUnknown && isKeyUnknown) throw parentError('fk_not_found', 'id', 'key')
  if (isIdUnknown) throw parentError('fk_not_found', 'id')
  if (isKeyUnknown) throw parentError('fk_not_found', 'key')
  if (ref.id !== undefined && ref.key !== undefined && byId?.id !== byKey?.id)
    throw parentError('ambiguous_fields', 'id', 'key')
  const parent = byId ?? byKey
  return parent === null ? noParent : { parentId: parent.id, parentKey: parent.external_key, level: parent.level }
}

export const createLocation = (deps: RecordDeps, orgId: number, draft: LocationDraft): Promise<Location> =>
  createInTransaction(deps, locationRepository, orgId, draft, async (tx, base) => {
    // The statements run in this order, so the tree is locked against moves while the parent's level is read.
    const { id, key } = draft.parent
    const locked = id == null && key == null ? undefined : lockTreeForShare(tx, orgId)
    const [{ level, ...parent }] = await Promise.all([resolveParent(tx, orgId, draft.parent), locked])
    if (level + 1 > maxTreeLevels) throw apiError.conflict(tooManyLevels)
    return { ...base, ...parent }
  })

export const changeLocation = (
  deps: RecordDeps,
  orgId: number,
  ref: RecordRef,
  patch: LocationPatch,
): Promise<Location> => {
  const { parent } = patch
  if (!namesParent(parent))
    return changeRecord(deps, locationRepository, orgId, ref, async (current) => applyPatch(current, patch))
  const move = async (current: Location, tx: Tx): Promise<Location> => {
    const changed = applyPatch(current, patch)
    // Errors in the body are reported before a conflict.
    assertValidPeriod(changed.validFrom, changed.validTo)
    return { ...changed, ...(await newParent(tx, orgId, current, parent)) }
  }
  return changeRecord(deps, locationRepository, orgId, ref, move, (tx) => lockTree(tx, orgId))
}

async function newParent(tx: Tx, orgId: number, current: Location, ref: ParentRef): Promise<Parent> {
  const { level, ...parent } = await resolveParent(tx, orgId, ref)
  if (parent.parentId !== null && parent.parentId !== current.parentId) {
    if (await isSelfOrAncestor(tx, orgId, current.id, parent.parentId))
      throw apiError.conflict('A location cannot be placed inside itself or one of its descendants')
    if (level + (await countLevels(tx, orgId, current.id)) > maxTreeLevels) throw apiError.conflict(tooManyLevels)
  }
  return parent
}

export const renameLocation = (
  deps: RecordDeps,
  orgId: number,
  ref: RecordRef,
  key: string,
): Promise<Renamed<Location>> =>
  renameRecord(deps, locationRepository, orgId, ref, key, (tx, id) => countDescendants(tx, orgId, id))

export const deleteLocation = (deps: RecordDeps, orgId: number, ref: RecordRef): Promise<void> =>
  deleteRecord(deps, locationRepository, orgId, ref, async (tx, id) => {
    await lockLocation(tx, orgId, id)
    const { children, assets } = await countDependents(tx, orgId, id)
    if (children) throw apiError.conflict('Location has active descendant locations')
    if (assets) throw apiError.conflict('Location has active assets placed in it')
  })

/** Throws when the location does not exist. */
export async function listTreeRelation<L extends Location>(
  deps: RecordDeps,
  orgId: number,
  ref: RecordRef,
  relation: TreeRelation,
  page: PageRequest,
  mapping: RowMapping<L>,
): Promise<Page<L>> {
  const { id } = await getRecord(deps, locationRepository, orgId, ref)
  // A page of children or descendants is read and sorted with all of them.
  const db = relation === 'ancestors' ? deps.db.read : deps.db.searches(orgId)
  return listTreeRelationPage(db, orgId, id, relation, page, mapping)
}
