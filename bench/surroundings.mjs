/** What the machine did by itself while something was measured: a virtual one shares its processors and its disk. */
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { spread } from './figures.mjs'

const flushForMs = 2_000
const flushEveryMs = 5
const pageBytes = 8_192
const tolerated = 0.02
/** Others are often done after a while. */
const pauseMs = 10_000

/** Time of all processors so far, and what of it the host gave to other machines; null where the system does not tell. */
function processorTimes() {
  try {
    const [line] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
    const times = line.split(/\s+/).slice(1, 9).map(Number)
    return { all: times.reduce((sum, time) => sum + time, 0), stolen: times.at(-1) }
  } catch {
    return null
  }
}

function stolenSince(before) {
  const now = processorTimes()
  return before === null || now === null ? null : (now.stolen - before.stolen) / (now.all - before.all)
}

/** What a commit waits for, while nobody else writes: a page to the same disk. */
async function flushTimes(folder) {
  const path = join(folder, 'flushed')
  const file = openSync(path, 'w')
  const page = Buffer.alloc(pageBytes, 1)
  const times = []
  try {
    for (const end = performance.now() + flushForMs; performance.now() < end; await sleep(flushEveryMs)) {
      const start = performance.now()
      writeSync(file, page, 0, pageBytes, 0)
      fdatasyncSync(file)
      times.push(performance.now() - start)
    }
  } finally {
    closeSync(file)
    rmSync(path)
  }
  return times
}

/** Measures, and looks at the disk before and after. */
export async function watched(folder, measure) {
  const before = await flushTimes(folder)
  const times = processorTimes()
  const result = await measure()
  const stolen = stolenSince(times)
  const { medianMs, p99Ms } = spread([...before, ...(await flushTimes(folder))])
  return { result, surroundings: { stolen, flushMs: { median: medianMs, p99: p99Ms } } }
}

/**
 * Measures again, after a pause, while other machines take more than a little of the processors: a p99 would tell of them. When patience
 * is at its end, what they disturbed least counts, a failure too.
 */
export function patiently(patience, getReady = () => undefined) {
  let left = patience
  return async function undisturbed(measure) {
    const tries = []
    for (;;) {
      await getReady()
      const before = processorTimes()
      const [outcome] = await Promise.allSettled([measure()])
      tries.push({ outcome, stolen: stolenSince(before) ?? 0 })
      if (tries.at(-1).stolen <= tolerated || left-- <= 0) break
      await sleep(pauseMs)
    }
    return valueOf(tries.sort((a, b) => a.stolen - b.stolen)[0].outcome)
  }
}

function valueOf({ status, value, reason }) {
  if (status === 'rejected') throw reason
  return value
}

/** Parts that were measured before this was looked at say nothing of it. */
export function surroundingsText(surroundings) {
  if (surroundings === undefined) return ''
  const { stolen, flushMs } = surroundings
  const taken = stolen === null ? '' : `Other machines took ${(stolen * 100).toFixed(1)} % of its processors. `
  return `${taken}A flushed write took ${flushMs.median.toFixed(1)} ms, one in a hundred ${flushMs.p99.toFixed(1)} ms or more. `
}
