import type { Instant } from '../kernel/instant.ts'
import { type TagDraft, matchValue } from '../tags/tag.ts'

/** A tag was read: by which antenna, how strongly, when, and under which identities it may be registered, best first. */
export interface TagRead {
  identities: readonly TagDraft[]
  readerId: number
  antenna: number
  rssiDbm: number | null
  observedAt: Instant
}

export const tagKey = (tag: TagDraft): string => `${tag.type} ${matchValue(tag)}`

/** Numbers what it is given from 1 on, the same thing always the same, and keeps one of each. */
class Numbered<One> {
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

const carrierKey = (identities: readonly TagDraft[]): string =>
  identities.length === 1 ? tagKey(identities[0]!) : identities.map(tagKey).join('\u0000')

/**
 * A batch as columns. The same tag is read again and again by the same antennas, so reads name by number what they saw
 * (a carrier: identities that hang together) and whence (a viewpoint: an antenna of a reader).
 */
export function columnsOf(reads: readonly TagRead[]) {
  const carriers = new Numbered<readonly TagDraft[]>()
  const viewpoints = new Numbered<TagRead>()
  const readCarriers = reads.map(({ identities }) => carriers.numberOf(carrierKey(identities), identities))
  const readViewpoints = reads.map((read) => viewpoints.numberOf(`${read.readerId} ${read.antenna}`, read))
  const identities = carriers.all.flatMap((tags, index) => tags.map((tag) => ({ carrier: index + 1, tag })))
  return {
    carriers: identities.map(({ carrier }) => carrier),
    tagTypes: identities.map(({ tag }) => tag.type),
    matchValues: identities.map(({ tag }) => matchValue(tag)),
    readerIds: viewpoints.all.map(({ readerId }) => readerId),
    antennas: viewpoints.all.map(({ antenna }) => antenna),
    readCarriers,
    readViewpoints,
  }
}
