import { setTimeout as sleep } from 'node:timers/promises'
import { newRandom } from './random.mjs'

/** Times in ms at which callers who know nothing of each other arrive (a Poisson process), the same for the same seed. */
export function atRandom({ perSecond, forMs, seed = 5 }) {
  const random = newRandom(seed)
  const times = []
  for (let at = 0; ;) {
    at -= (Math.log(1 - random()) / perSecond) * 1000
    if (at >= forMs) return times
    times.push(at)
  }
}

export function evenly({ perSecond, forMs }) {
  return Array.from({ length: Math.ceil((forMs * perSecond) / 1000) }, (_, index) => (index * 1000) / perSecond)
}

/**
 * Calls `send` at each of the times, whatever became of those before, and resolves when all are over. `send` gets the time
 * in the schedule and the moment it was due, from which a latency counts. Never early, and up to a millisecond late.
 */
export async function atTimes(times, send) {
  const began = performance.now()
  const pending = []
  for (const [index, time] of times.entries()) {
    const early = began + time - performance.now()
    if (early > 0) await sleep(Math.ceil(early))
    pending.push(send({ index, time, dueAt: began + time }))
  }
  await Promise.all(pending)
}
