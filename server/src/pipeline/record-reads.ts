import type { Database, Tx } from '../db/database.ts'
import { Overtaken } from '../db/violations.ts'
import { type Clock, now } from '../kernel/clock.ts'
import type { Instant } from '../kernel/instant.ts'
import type { TagDraft } from '../tags/tag.ts'
import { claimMinutes } from '../tracking/minutes.sql.ts'
import { type RecordedMove, insertMoves } from '../tracking/moves.sql.ts'
import { advancePositions } from '../tracking/positions.sql.ts'
import { resolveTags, tagKey, viewpointsOf } from '../tracking/resolve.sql.ts'
import { firstPerMinute, movesAlong } from '../tracking/sighting.ts'
import type { Observation } from '../tracking/smoothing.ts'
import { advancesOf, perAsset } from './advances.ts'
import { type Steadied, steadied } from './steadied.ts'

/** A tag was read: by which antenna, how strongly, when, and under which identities it may be registered, best first. */
export interface TagRead {
  identities: readonly TagDraft[]
  readerId: number
  antenna: number
  rssiDbm: number | null
  observedAt: Instant
}

export interface Recorded {
  /** For each read, in order, whether its tag hangs on an asset. */
  isKnown: boolean[]
  moves: RecordedMove[]
}

interface Needs {
  db: Database
  clock: Clock
}

/** read → sighting → minute → position → move, in one transaction: all of a batch happens, or none of it. */
export function recordReads(needs: Needs, orgId: number, reads: readonly TagRead[]): Promise<Recorded> {
  return needs.db.inOrganization(orgId, async (tx) => {
    const seen = await observationsOf(tx, orgId, reads)
    const isKnown = seen.map((one) => one !== null)
    const { sightings, assumed }: Steadied = await steadied(
      tx,
      orgId,
      seen.flatMap((one) => one ?? []),
    )
    const fresh = await claimMinutes(tx, orgId, firstPerMinute(sightings), 'reader')
    if (fresh.length === 0) return { isKnown, moves: [] }

    const before = await advancePositions(tx, orgId, advancesOf(fresh), 'reader')
    for (const [assetId, place] of assumed)
      if (before.has(assetId) && (before.get(assetId)?.locationId ?? null) !== place)
        throw new Overtaken('an asset was moved while a sighting of it was held back')
    const moves = [...perAsset(fresh)].flatMap(([assetId, own]) => movesAlong(before.get(assetId) ?? null, own))
    return { isKnown, moves: await insertMoves(tx, orgId, moves, now(needs.clock)) }
  })
}

/**
 * Which asset was seen where: the first identity that hangs on an asset, at the place the antenna looks at. A reader
 * deleted a moment ago saw nothing, also where the news of it has not arrived yet.
 */
async function observationsOf(tx: Tx, orgId: number, reads: readonly TagRead[]): Promise<(Observation | null)[]> {
  const tags = new Map(reads.flatMap((read) => read.identities.map((tag) => [tagKey(tag), tag] as const)))
  const readerIds = [...new Set(reads.map((read) => read.readerId))]
  const [holders, readers] = await Promise.all([resolveTags(tx, orgId, tags), viewpointsOf(tx, orgId, readerIds)])
  return reads.map(({ identities, readerId, antenna, rssiDbm, observedAt }) => {
    const assetId = identities.map((tag) => holders.get(tagKey(tag))?.assetId ?? null).find((id) => id !== null)
    const reader = readers.get(readerId)
    if (assetId === undefined || reader === undefined) return null
    const locationId = reader.places.get(antenna) ?? null
    return { assetId, locationId, observedAt, rssiDbm, smoothing: reader.smoothing }
  })
}
