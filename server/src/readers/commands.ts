import type { Database, Tx } from '../db/database.ts'
import type { IdGenerator } from '../db/id-generator.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import type { QuotaCheck } from '../kernel/quota.ts'
import { hashSecret, newReaderToken, topicKeyOf } from '../kernel/secrets.ts'
import { isOnlyOrganization } from '../organizations/organizations.sql.ts'
import type { NewReader, Reader, ReaderDraft } from './reader.ts'
import {
  deleteReader,
  findReader,
  insertReader,
  liveLocations,
  lockReader,
  putScanPoints,
  replaceReaderToken,
  updateReader,
} from './readers.sql.ts'
import { type UnknownTopic, listUnknownTopics, topicKeyIn } from './unknown.sql.ts'

/**
 * Published with the id of a reader after it was changed, got a new token or was deleted, so that every process drops its
 * cache entries of that reader. Without an id, any reader may have changed.
 */
export const readerChangedTopic = 'reader-changed'

interface Deps extends InboxDeps {
  clock: Clock
  ids: IdGenerator
  quotas: QuotaCheck
}

interface InboxDeps {
  db: Database
  /** The organization that sees unknown topics, if the operator has set one. */
  unknownReadersOrg?: number | null
}

async function rejectUnknownLocations(tx: Tx, orgId: number, scanPoints: ReaderDraft['scanPoints']): Promise<void> {
  const ids = scanPoints.flatMap((point) => point.locationId ?? [])
  const live = await liveLocations(tx, orgId, { ids })
  scanPoints.forEach((point, index) => {
    if (point.locationId !== null && !live.has(point.locationId)) {
      const field = `scan_points[${index}].location_id`
      throw apiError.invalid({ field, code: 'fk_not_found', message: `${field} does not name a location` })
    }
  })
}

/**
 * Topics without a reader. They are shown to a single organization: the only one of the installation, or the organization
 * that the operator has set.
 */
export async function unknownTopics(
  { db, unknownReadersOrg = null }: InboxDeps,
  orgId: number,
): Promise<{ isShown: boolean; topics: UnknownTopic[] }> {
  const isShown = unknownReadersOrg === null ? await isOnlyOrganization(db.read) : unknownReadersOrg === orgId
  return { isShown, topics: isShown ? await listUnknownTopics(db.read) : [] }
}

/** Only a topic of the inbox can be assigned, so that no tenant claims a topic that another tenant's reader uses. */
async function rejectUnlistedTopic(deps: InboxDeps, orgId: number, topicKey: string): Promise<void> {
  const { topics } = await unknownTopics(deps, orgId)
  if (topics.some((one) => topicKeyIn(one.topic) === topicKey)) return
  const message = 'topic_key is not among the topics of unknown readers'
  throw apiError.invalid({ field: 'topic_key', code: 'fk_not_found', message })
}

export async function createReader(deps: Deps, orgId: number, draft: ReaderDraft): Promise<NewReader> {
  const id = await deps.ids.next(orgId)
  const token = newReaderToken()
  const secret = { tokenHash: hashSecret(token), topicKey: draft.topicKey ?? topicKeyOf(token) }
  if (draft.topicKey !== undefined) await rejectUnlistedTopic(deps, orgId, draft.topicKey)
  const reader = await deps.db.withTenant(orgId, async (tx) => {
    await rejectUnknownLocations(tx, orgId, draft.scanPoints)
    await deps.quotas.assertRoom(orgId, 'readers')
    await insertReader(tx, orgId, id, draft, secret, now(deps.clock))
    return findReader(tx, orgId, id)
  })
  return { reader: reader!, token, previousTokenExpiresAt: null }
}

export async function getReader(deps: Deps, orgId: number, id: number): Promise<Reader> {
  const reader = await findReader(deps.db.read, orgId, id)
  if (reader === null) throw apiError.notFound('Reader')
  return reader
}

/** Changes only the given fields; scan points are replaced as a whole. */
export function changeReader(deps: Deps, orgId: number, id: number, change: Partial<ReaderDraft>): Promise<Reader> {
  return deps.db.withTenant(orgId, async (tx) => {
    const [, current] = await Promise.all([lockReader(tx, orgId, id), findReader(tx, orgId, id)])
    if (current === null) throw apiError.notFound('Reader')
    await updateReader(tx, orgId, id, { ...current, ...change })
    if (change.scanPoints !== undefined) {
      await rejectUnknownLocations(tx, orgId, change.scanPoints)
      await putScanPoints(tx, orgId, id, change.scanPoints)
    }
    return (await findReader(tx, orgId, id))!
  })
}

/**
 * Replaces the reader's token. The old one stays valid for the overlap, so that the device can be changed without losing
 * reads. The topic stays, so only the device's password changes.
 */
export async function rotateReaderToken(deps: Deps, orgId: number, id: number, overlapSeconds = 0): Promise<NewReader> {
  const token = newReaderToken()
  const previousTokenExpiresAt =
    overlapSeconds === 0 ? null : instantFromMillis(deps.clock.millis() + overlapSeconds * 1000)
  const reader = await deps.db.withTenant(orgId, async (tx) => {
    if (!(await replaceReaderToken(tx, orgId, id, hashSecret(token), previousTokenExpiresAt)))
      throw apiError.notFound('Reader')
    return findReader(tx, orgId, id)
  })
  return { reader: reader!, token, previousTokenExpiresAt }
}

export async function removeReader(deps: Deps, orgId: number, id: number): Promise<void> {
  const isDeleted = await deps.db.withTenant(orgId, (tx) => deleteReader(tx, orgId, id))
  if (!isDeleted) throw apiError.notFound('Reader')
}
