import type { Tx } from '../db/database.ts'
import { type FieldProblem, refuse, refuseAny } from '../kernel/errors.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import {
  type Renamed,
  changeRecord,
  createRecordAmong,
  deleteRecord,
  getRecord,
  renameRecord,
} from '../records/commands.ts'
import { applyPatch } from '../records/patch.ts'
import { type Needs, type RecordRef, refuseEmptyWindow } from '../records/record.ts'
import {
  type Location,
  type LocationDraft,
  type LocationPatch,
  type ParentRef,
  type RootedLocation,
  maxTreeLevels,
  namesParent,
  tooManyLevels,
} from './location.ts'
import { type Reading, locationStore, trailOf } from './locations.sql.ts'
import {
  type Kin,
  countDescendants,
  countLevels,
  holdParent,
  isAtOrAbove,
  listKin,
  lockPlace,
  lockTree,
  lockTreeForShare,
  occupancy,
} from './tree.sql.ts'

/** A location that was just written, with the way to it. */
export const withTrail = async (needs: Needs, orgId: number, location: Location): Promise<RootedLocation> => ({
  ...location,
  trail: await trailOf(needs.db.read, orgId, location.id),
})

type Parent = Pick<Location, 'parentId' | 'parentKey'>

interface ResolvedParent extends Parent {
  /** 1 for a parent that is a root, 0 without a parent. */
  level: number
}

const noParent: ResolvedParent = { parentId: null, parentKey: null, level: 0 }

/** The parent both names agree on. One that does not resolve is reported before a disagreement. */
async function resolveParent(tx: Tx, orgId: number, ref: ParentRef): Promise<ResolvedParent> {
  const byId = ref.id == null ? null : await holdParent(tx, orgId, ref.id)
  const byKey = ref.key == null ? null : await holdParent(tx, orgId, { key: ref.key })
  const unresolved: FieldProblem[] = []
  if (ref.id != null && byId === null) unresolved.push(notThere('parent_id'))
  if (ref.key != null && byKey === null) unresolved.push(notThere('parent_external_key'))
  refuseAny(unresolved)
  if (ref.id !== undefined && ref.key !== undefined && byId?.id !== byKey?.id)
    throw refuse.invalid(disagrees('parent_id'), disagrees('parent_external_key'))
  const parent = byId ?? byKey
  return parent === null ? noParent : { parentId: parent.id, parentKey: parent.external_key, level: parent.level }
}

const notThere = (field: string): FieldProblem => ({
  field,
  code: 'fk_not_found',
  message: `${field} does not name a location`,
})

const disagrees = (field: string): FieldProblem => ({
  field,
  code: 'ambiguous_fields',
  message: 'parent_id and parent_external_key name different locations',
})

export const createLocation = (needs: Needs, orgId: number, draft: LocationDraft): Promise<Location> =>
  createRecordAmong(needs, locationStore, orgId, draft, async (tx, core) => {
    // The statements run in this order, so the parent's level is read while nothing can be moved.
    const { id, key } = draft.parent
    const locked = id == null && key == null ? undefined : lockTreeForShare(tx, orgId)
    const [{ level, ...parent }] = await Promise.all([resolveParent(tx, orgId, draft.parent), locked])
    if (level + 1 > maxTreeLevels) throw refuse.conflict(tooManyLevels)
    return { ...core, ...parent }
  })

export const changeLocation = (
  needs: Needs,
  orgId: number,
  ref: RecordRef,
  patch: LocationPatch,
): Promise<Location> => {
  const { parent } = patch
  if (!namesParent(parent))
    return changeRecord(needs, locationStore, orgId, ref, (current) => applyPatch(current, patch))
  const move = async (current: Location, tx: Tx): Promise<Location> => {
    const changed = applyPatch(current, patch)
    // Errors in the body are reported before a conflict.
    refuseEmptyWindow(changed.validFrom, changed.validTo)
    return { ...changed, ...(await newParent(tx, orgId, current, parent)) }
  }
  return changeRecord(needs, locationStore, orgId, ref, move, (tx) => lockTree(tx, orgId))
}

async function newParent(tx: Tx, orgId: number, current: Location, ref: ParentRef): Promise<Parent> {
  const { level, ...parent } = await resolveParent(tx, orgId, ref)
  if (parent.parentId !== null && parent.parentId !== current.parentId) {
    if (await isAtOrAbove(tx, orgId, current.id, parent.parentId))
      throw refuse.conflict('A location cannot be placed inside itself or one of its descendants')
    if (level + (await countLevels(tx, orgId, current.id)) > maxTreeLevels) throw refuse.conflict(tooManyLevels)
  }
  return parent
}

export const renameLocation = (needs: Needs, orgId: number, ref: RecordRef, key: string): Promise<Renamed<Location>> =>
  renameRecord(needs, locationStore, orgId, ref, key, (tx, id) => countDescendants(tx, orgId, id))

export const deleteLocation = (needs: Needs, orgId: number, ref: RecordRef): Promise<void> =>
  deleteRecord(needs, locationStore, orgId, ref, async (tx, id) => {
    await lockPlace(tx, orgId, id)
    const { children, assets } = await occupancy(tx, orgId, id)
    if (children) throw refuse.conflict('Location has active descendant locations')
    if (assets) throw refuse.conflict('Location has active assets placed in it')
  })

/** The location itself must be there; its kin may be none. */
export async function locationKin<L extends Location>(
  needs: Needs,
  orgId: number,
  ref: RecordRef,
  kin: Kin,
  page: PageRequest,
  reading: Reading<L>,
): Promise<Page<L>> {
  const { id } = await getRecord(needs, locationStore, orgId, ref)
  return listKin(needs.db.read, orgId, id, kin, page, reading)
}
