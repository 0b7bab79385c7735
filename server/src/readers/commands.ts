import type { Database, Tx } from '../db/database.ts'
import type { IdGenerator } from '../db/id-generator.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'
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
 * Announced with the id of a reader after it was changed, given a new token or removed, so that no process acts on what it
 * remembers. Without an id any reader may have changed.
 */
export const readerChangedTopic = 'reader-changed'

interface Deps extends InboxDeps {
  clock: Clock
  ids: IdGenerator
  quotas: QuotaCheck
}

interface InboxDeps {
  db: Database
  /** Whose readers unknown ones are, where the operator says so. */
  unknownReadersOrg?: number | null
}

async function refuseUnknownPlaces(tx: Tx, orgId: number, scanPoints: ReaderDraft['scanPoints']): Promise<void> {
  const wanted = scanPoints.flatMap((point) => point.locationId ?? [])
  const live = await liveLocations(tx, orgId, { ids: wanted })
  scanPoints.forEach((point, index) => {
    if (point.locationId !== null && !live.has(point.locationId)) {
      const field = `scan_points[${index}].location_id`
      throw apiError.invalid({ field, code: 'fk_not_found', message: `${field} does not name a location` })
    }
  })
}

/** Topics that nobody owns: whose they are is known while there is one organization, or when the operator says it. */
export async function unknownTopics(
  { db, unknownReadersOrg = null }: InboxDeps,
  orgId: number,
): Promise<{ isShown: boolean; topics: UnknownTopic[] }> {
  const isShown = unknownReadersOrg === null ? await isOnlyOrganization(db.read) : unknownReadersOrg === orgId
  return { isShown, topics: isShown ? await listUnknownTopics(db.read) : [] }
}

/** A topic can be taken from the inbox alone, so that nobody takes one that others send under. */
async function refuseStrangeTopic(deps: InboxDeps, orgId: number, topicKey: string): Promise<void> {
  const { topics } = await unknownTopics(deps, orgId)
  if (topics.some((one) => topicKeyIn(one.topic) === topicKey)) return
  const message = 'topic_key is not among the topics of unknown readers'
  throw apiError.invalid({ field: 'topic_key', code: 'fk_not_found', message })
}

export async function createReader(deps: Deps, orgId: number, draft: ReaderDraft): Promise<NewReader> {
  const id = await deps.ids.next(orgId)
  const token = newReaderToken()
  const secret = { tokenHash: hashSecret(token), topicKey: draft.topicKey ?? topicKeyOf(token) }
  if (draft.topicKey !== undefined) await refuseStrangeTopic(deps, orgId, draft.topicKey)
  const reader = await deps.db.withTenant(orgId, async (tx) => {
    await refuseUnknownPlaces(tx, orgId, draft.scanPoints)
    await deps.quotas.assertRoom(orgId, 'readers')
    await insertReader(tx, orgId, id, draft, secret, now(deps.clock))
    return findReader(tx, orgId, id)
  })
  return { reader: reader!, token }
}

export async function getReader(deps: Deps, orgId: number, id: number): Promise<Reader> {
  const reader = await findReader(deps.db.read, orgId, id)
  if (reader === null) throw apiError.notFound('Reader')
  return reader
}

/** Only what is given changes; scan points are replaced as a whole. */
export function changeReader(deps: Deps, orgId: number, id: number, change: Partial<ReaderDraft>): Promise<Reader> {
  return deps.db.withTenant(orgId, async (tx) => {
    const [, current] = await Promise.all([lockReader(tx, orgId, id), findReader(tx, orgId, id)])
    if (current === null) throw apiError.notFound('Reader')
    await updateReader(tx, orgId, id, { ...current, ...change })
    if (change.scanPoints !== undefined) {
      await refuseUnknownPlaces(tx, orgId, change.scanPoints)
      await putScanPoints(tx, orgId, id, change.scanPoints)
    }
    return (await findReader(tx, orgId, id))!
  })
}

/** A new token for the reader; the old one stops working. Its topic stays, so only the password of the device changes. */
export async function rotateReaderToken(deps: Deps, orgId: number, id: number): Promise<NewReader> {
  const token = newReaderToken()
  const reader = await deps.db.withTenant(orgId, async (tx) => {
    if (!(await replaceReaderToken(tx, orgId, id, hashSecret(token)))) throw apiError.notFound('Reader')
    return findReader(tx, orgId, id)
  })
  return { reader: reader!, token }
}

export async function removeReader(deps: Deps, orgId: number, id: number): Promise<void> {
  const isGone = await deps.db.withTenant(orgId, (tx) => deleteReader(tx, orgId, id))
  if (!isGone) throw apiError.notFound('Reader')
}
