import type { Instant } from '../../kernel/instant.ts'
import { type TagDraft, normalizedValue, tagKey } from '../../tags/tag.ts'
import { minuteOf } from '../sighting.ts'

/** A read of a tag by an antenna. `identities` are the forms in which the tag may be registered, best first. */
export interface TagRead {
  identities: readonly TagDraft[]
  readerId: number
  antenna: number
  rssiDbm: number | null
  observedAt: Instant
}

/** Assigns consecutive numbers from 1 to distinct values; equal keys get the same number. */
class Interner<Value> {
  readonly #numbers = new Map<string, number>()
  readonly all: Value[] = []

  numberOf(key: string, value: Value): number {
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.all.push(value)
    this.#numbers.set(key, this.all.length)
    return this.all.length
  }
}

const tagGroupKey = (identities: readonly TagDraft[]): string =>
  identities.length === 1 ? tagKey(identities[0]!) : identities.map(tagKey).join('\u0000')

/**
 * Equal for the reads of a tag by a reader in a minute. They all resolve to the same asset or to none, and only the earliest
 * of them can set the minute, whichever antenna it is from.
 */
export const minuteKey = ({ identities, readerId, observedAt }: TagRead): string =>
  `${readerId} ${minuteOf(observedAt)} ${tagGroupKey(identities)}`

/** The reads that can set a minute, in their order: of reads at the same instant, the first one sets it. */
export function earliestPerMinute(reads: readonly TagRead[]): TagRead[] {
  const earliest = new Map<string, TagRead>()
  for (const read of reads) {
    const key = minuteKey(read)
    const known = earliest.get(key)
    if (known === undefined || read.observedAt < known.observedAt) earliest.set(key, read)
  }
  const kept = new Set(earliest.values())
  return reads.filter((read) => kept.has(read))
}

/**
 * A batch as columns. The same antennas read the same tags repeatedly, so each read refers by number to a tag group (the
 * identities of one tag) and to an antenna ref (an antenna of a reader).
 */
export function columnsOf(reads: readonly TagRead[]) {
  const tagGroups = new Interner<readonly TagDraft[]>()
  const antennaRefs = new Interner<TagRead>()
  const readTagGroups = reads.map(({ identities }) => tagGroups.numberOf(tagGroupKey(identities), identities))
  const readAntennaRefs = reads.map((read) => antennaRefs.numberOf(`${read.readerId} ${read.antenna}`, read))
  const identities = tagGroups.all.flatMap((tags, index) => tags.map((tag) => ({ tagGroup: index + 1, tag })))
  return {
    tagGroups: identities.map(({ tagGroup }) => tagGroup),
    tagTypes: identities.map(({ tag }) => tag.type),
    normalizedValues: identities.map(({ tag }) => normalizedValue(tag)),
    readerIds: antennaRefs.all.map(({ readerId }) => readerId),
    antennas: antennaRefs.all.map(({ antenna }) => antenna),
    readTagGroups,
    readAntennaRefs,
  }
}
