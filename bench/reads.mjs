import { newRandom } from './random.mjs'

/** The loads: how often an asset is read in a minute, and how often a new minute is at another place. */
export const shapes = {
  steady: { title: 'ten reads per asset and minute', readsPerMinute: 10, moveChance: 1 / 6 },
  worst: { title: 'every read a new minute', readsPerMinute: 1, moveChance: 1 / 6 },
  moving: { title: 'every read a move', readsPerMinute: 1, moveChance: 1 },
}

/** What ingest is measured with. */
export const usualShapes = ['steady', 'worst']

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/** Far enough back that no stream runs into the present or into the other's minutes, and within what is kept. */
const usualBeginMs = { steady: 300 * dayMs, worst: 200 * dayMs, moving: 100 * dayMs }

/**
 * What the readers of a site see, without end: one asset after the other, all its reads of a minute together as a gate
 * reports them, then the next minute. Two streams with the same seed see the same.
 */
export class ReadStream {
  #random = newRandom(11)
  #tags
  #antennas
  #shape
  #at
  #minute
  #asset = 0
  #read = 0

  constructor({ tags, antennas, shape, beginMs = usualBeginMs }) {
    this.#tags = tags
    this.#antennas = antennas
    this.#shape = shapes[shape]
    this.#at = tags.map((_, index) => index % antennas)
    this.#minute = Math.floor((Date.now() - beginMs[shape]) / minuteMs) * minuteMs
  }

  next() {
    const { readsPerMinute, moveChance } = this.#shape
    if (this.#read === 0 && this.#random() < moveChance)
      this.#at[this.#asset] = (this.#at[this.#asset] + 1) % this.#antennas
    const offset = Math.floor((this.#read * minuteMs) / readsPerMinute / 10)
    const read = {
      tag: this.#tags[this.#asset],
      antenna: this.#at[this.#asset] + 1,
      observedAt: new Date(this.#minute + offset).toISOString(),
    }
    if (++this.#read === readsPerMinute) this.#advance()
    return read
  }

  #advance() {
    this.#read = 0
    if (++this.#asset < this.#tags.length) return
    this.#asset = 0
    this.#minute += minuteMs
  }

  take(count) {
    return Array.from({ length: count }, () => this.next())
  }
}

/** One message of a reader in the documented format. */
export function toMessage(reads) {
  const each = reads.map(
    ({ tag, antenna, observedAt }) => `{"tag":"${tag}","antenna":${antenna},"observed_at":"${observedAt}","rssi":-58}`,
  )
  return `{"reads":[${each.join(',')}]}`
}
