import { tagsOf } from './seed.mjs'

/** The reads per asset and minute, and the age of the first read. The periods of the two shapes do not overlap. */
export const shapes = {
  'ten reads per asset and minute': { readsPerMinute: 10, startDaysAgo: 300 },
  'every read in a new minute': { readsPerMinute: 1, startDaysAgo: 200 },
}
const moveProbability = 1 / 6
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/**
 * Yields the reads of a site endlessly: for each minute, all reads of one asset after the other. In each minute one asset
 * in six, chosen at random, is at another antenna than before.
 */
function* readsOf({ assets, antennaCount, shape, startMs }) {
  const { readsPerMinute, startDaysAgo } = shapes[shape]
  const tags = tagsOf(assets)
  const antennas = tags.map((_, index) => 1 + (index % antennaCount))
  const firstMs = startMs ?? Date.now() - startDaysAgo * dayMs
  for (let minute = firstMs - (firstMs % minuteMs); ; minute += minuteMs) {
    const times = Array.from({ length: readsPerMinute }, (_, read) => new Date(minute + read * 600).toISOString())
    for (const [asset, tag] of tags.entries()) {
      if (Math.random() < moveProbability) antennas[asset] = 1 + (antennas[asset] % antennaCount)
      for (const observedAt of times) yield { tag, antenna: antennas[asset], observedAt }
    }
  }
}

/** Returns a function that returns the next `count` reads of the site. */
export function createReadSource(site) {
  const reads = readsOf(site)
  return (count) => Array.from({ length: count }, () => reads.next().value)
}

/** A message in the documented format of readers. */
export function toMessage(reads) {
  let text = ''
  for (const { tag, antenna, observedAt } of reads)
    text += `${text && ','}{"tag":"${tag}","antenna":${antenna},"observed_at":"${observedAt}","rssi":-58}`
  return `{"reads":[${text}]}`
}
