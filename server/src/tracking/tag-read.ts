import type { Instant } from '../kernel/instant.ts'
import { type TagDraft, normalizedValue } from '../tags/tag.ts'

/** A read of a tag by an antenna. `identities` are the forms in which the tag may be registered, best first. */
export interface TagRead {
  identities: readonly TagDraft[]
  readerId: number
  antenna: number
  rssiDbm: number | null
  observedAt: Instant
}

export const tagKey = (tag: TagDraft): string => `${tag.type} ${normalizedValue(tag)}`

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
