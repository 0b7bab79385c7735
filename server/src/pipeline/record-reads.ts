import type { Database, Tx } from '../db/database.ts'
import { type Clock, now } from '../kernel/clock.ts'
import type { Instant } from '../kernel/instant.ts'
import type { TagDraft } from '../tags/tag.ts'
import { claimMinutes } from '../tracking/minutes.sql.ts'
import { type RecordedMove, insertMoves } from '../tracking/moves.sql.ts'
import { advancePositions } from '../tracking/positions.sql.ts'
import { resolveTags, scanPointsOf, tagKey } from '../tracking/resolve.sql.ts'
import { type Sighting, firstPerMinute, movesAlong } from '../tracking/sighting.ts'
import { advancesOf, perAsset } from './advances.ts'

/** A tag was read: by which antenna, when, and under which identities it may be registered, best first. */
export interface TagRead {
  identities: readonly TagDraft[]
  readerId: number
  antenna: number
  observedAt: Instant
}

export interface Recorded {
  /** For each read, in order, whether its tag hangs on an asset. */
  isKnown: boolean[]
  moves: RecordedMove[]
}

/** read → sighting → minute → position → move, in one transaction: all of a batch happens, or none of it. */
export function recordReads(
  { db, clock }: { db: Database; clock: Clock },
  orgId: number,
  reads: readonly TagRead[],
): Promise<Recorded> {
  return db.inOrganization(orgId, async (tx) => {
    const seen = await sightingsOf(tx, orgId, reads)
    const fresh = await claimMinutes(tx, orgId, firstPerMinute(seen.flatMap((one) => one ?? [])), 'reader')
    const isKnown = seen.map((one) => one !== null)
    if (fresh.length === 0) return { isKnown, moves: [] }

    const before = await advancePositions(tx, orgId, advancesOf(fresh), 'reader')
    const moves = [...perAsset(fresh)].flatMap(([assetId, own]) => movesAlong(before.get(assetId) ?? null, own))
    return { isKnown, moves: await insertMoves(tx, orgId, moves, now(clock)) }
  })
}

/**
 * Which asset was seen where: the first identity that hangs on an asset, at the place the antenna looks at. A reader
 * deleted a moment ago saw nothing, also where the news of it has not arrived yet.
 */
async function sightingsOf(tx: Tx, orgId: number, reads: readonly TagRead[]): Promise<(Sighting | null)[]> {
  const tags = new Map(reads.flatMap((read) => read.identities.map((tag) => [tagKey(tag), tag] as const)))
  const readerIds = [...new Set(reads.map((read) => read.readerId))]
  const [holders, readers] = await Promise.all([resolveTags(tx, orgId, tags), scanPointsOf(tx, orgId, readerIds)])
  return reads.map(({ identities, readerId, antenna, observedAt }) => {
    const assetId = identities.map((tag) => holders.get(tagKey(tag))?.assetId ?? null).find((id) => id !== null)
    const places = readers.get(readerId)
    if (assetId === undefined || places === undefined) return null
    return { assetId, locationId: places.get(antenna) ?? null, observedAt }
  })
}
