import type { Instant } from '../kernel/instant.ts'
import { type TagDraft, normalizedValue } from '../tags/tag.ts'

/** A tag was read: by which antenna, how strongly, when, and under which identities it may be registered, best first. */
export interface TagRead {
  identities: readonly TagDraft[]
  readerId: number
  antenna: number
  rssiDbm: number | null
  observedAt: Instant
}

export const tagKey = (tag: TagDraft): string => `${tag.type} ${normalizedValue(tag)}`

/** Numbers what it is given from 1 on, the same thing always the same, and keeps one of each. */
class Interner<One> {
  readonly #numbers = new Map<string, number>()
  readonly all: One[] = []

  numberOf(key: string, one: One): number {
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.all.push(one)
    this.#numbers.set(key, this.all.length)
    return this.all.length
  }
}

const tagGroupKey = (identities: readonly TagDraft[]): string =>
  identities.length === 1 ? tagKey(identities[0]!) : identities.map(tagKey).join('\u0000')

/**
 * A batch as columns. The same tag is read again and again by the same antennas, so reads name by number what they saw
 * (a tagGroup: identities that hang together) and whence (a antennaRef: an antenna of a reader).
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
