/** Twice as much as the service can take: how much it still answers, what that costs in memory, and how soon it is over. */
import { median, whole } from './figures.mjs'
import { startLoaded } from './loaded.mjs'
import { memoryOf, processorMsOf } from './processes.mjs'
import { patiently } from './surroundings.mjs'

const bars = { goodput: 0.8, backMs: 10_000 }
const loads = {
  'point-read': { title: 'point reads', operation: ['point-read'] },
  mixed: {
    title: 'point reads, lists, creates and reports in turn',
    operation: ['point-read', 'list', 'create', 'report'],
  },
}
/** In the flood more than the requests that the service lets wait, so that it has to turn some away. */
const connections = { closed: 32, open: 128, flood: 1_000 }
const windowMs = 500
/** An answer that comes later than this after its time is of no use. */
const patienceMs = 2_000
/** So long a caller waits for a free connection before it gives up. */
const queueMs = 50
/** A median is back when it is at most so many times what it was. */
const likeness = 1.2

/** What a process holds at most, and the share of a core it uses, while something goes on. */
async function watch(pid, work) {
  const seen = { highestMib: memoryOf(pid), processorMs: processorMsOf(pid), beganAt: performance.now() }
  const timer = setInterval(() => (seen.highestMib = Math.max(seen.highestMib, memoryOf(pid))), 100)
  try {
    const result = await work()
    const busy = (processorMsOf(pid) - seen.processorMs) / (performance.now() - seen.beganAt)
    return { ...result, highestMib: seen.highestMib, busy }
  } finally {
    clearInterval(timer)
  }
}

/** Time until the median of a window is what it was, and null when that was not seen: JSON knows no infinity. */
function timeBack(windowMedians, usualMs) {
  const index = windowMedians.findIndex((value) => value <= usualMs * likeness)
  return index === -1 ? null : (index + 1) * windowMs
}

/** As much as it can take, and at once twice as much: the machine is the same for both. */
async function peakAndFlood({ service, load }, operation, { peakMs, floodMs }) {
  const peak = await load({ operation, connections: connections.closed, warmMs: 2_000, measureMs: peakMs })
  const perSecond = peak.perSecond * 2
  const flood = await watch(service.pid, () =>
    load({
      ...{ operation, perSecond, connections: connections.flood, patienceMs, queueMs },
      ...{ warmMs: 1_000, measureMs: floodMs },
    }),
  )
  return { peak, flood, ratio: flood.perSecond / peak.perSecond }
}

/** How it is at half of the peak, and when it is so again after a flood. */
async function recover(loaded, operation, { peakMs, floodMs, watchMs }, perSecond) {
  const half = { operation, perSecond: perSecond / 2, connections: connections.open, windowMs }
  const usual = await loaded.load({ ...half, warmMs: 1_000, measureMs: peakMs })
  const { flood } = await peakAndFlood(loaded, operation, { peakMs, floodMs })
  const after = await loaded.load({ ...half, warmMs: 0, measureMs: watchMs })
  return { usualMs: median(usual.windowMedians), flood, after }
}

/** The round whose ratio is in the middle is told of. */
async function measureLoad(loaded, name, { rounds, again, ...pace }) {
  const { service, signIn } = loaded
  const { operation } = loads[name]
  const beforeMib = memoryOf(service.pid)
  const seen = []
  const undisturbed = patiently(again, signIn)
  for (let round = 0; round < rounds; round++) seen.push(await undisturbed(() => peakAndFlood(loaded, operation, pace)))
  const { peak, flood, ratio } = seen.sort((a, b) => a.ratio - b.ratio)[Math.floor(rounds / 2)]
  const recovery = await patiently(again, signIn)(() => recover(loaded, operation, pace, peak.perSecond))
  const { usualMs, after } = recovery
  const highestMib = Math.max(...[...seen, recovery].map((round) => round.flood.highestMib))
  return {
    name,
    peakPerSecond: peak.perSecond,
    offeredPerSecond: flood.offeredPerSecond,
    goodPerSecond: flood.perSecond,
    ratio,
    medianMs: flood.medianMs,
    p99Ms: flood.p99Ms,
    failures: flood.failures,
    serviceBusy: flood.busy,
    usualMs,
    backMs: timeBack(after.windowMedians, usualMs),
    memory: { beforeMib, highestMib, afterMib: memoryOf(service.pid) },
  }
}

async function measureOverload(started, postgres, { credentials, profileDir, say, ...pace }) {
  const lines = []
  const loaded = await startLoaded(started, postgres, { name: 'bench_overload', credentials, profileDir })
  for (const name of Object.keys(loads)) {
    const line = await measureLoad(loaded, name, pace)
    lines.push(line)
    say(
      `${name} at twice the peak: ${line.ratio.toFixed(2)} of it answered, seconds until it was over: ${backText(line)}`,
    )
  }
  return lines
}

const isGood = ({ ratio }) => ratio >= bars.goodput
const isBack = ({ backMs }) => backMs !== null && backMs <= bars.backMs
const backText = ({ backMs }) => (backMs === null ? 'not seen' : (backMs / 1000).toFixed(1))
const verdict = (isMet) => (isMet ? '' : ' ✗')

function renderOverload(lines) {
  const row = (line) => {
    const { beforeMib, highestMib, afterMib } = line.memory
    const refused = Object.entries(line.failures).map(([why, count]) => `${whole(count)} × ${why}`)
    return (
      `| ${loads[line.name].title} | ${whole(line.peakPerSecond)} | ${whole(line.offeredPerSecond)} | ` +
      `${whole(line.goodPerSecond)} | ${line.ratio.toFixed(2)}${verdict(isGood(line))} | ${bars.goodput} | ` +
      `${whole(line.medianMs)} | ${whole(line.p99Ms)} | ${refused.join(', ') || 'none'} | ` +
      `${[beforeMib, highestMib, afterMib].map(whole).join(' → ')} | ` +
      `${backText(line)}${verdict(isBack(line))} | ${bars.backMs / 1000} |`
    )
  }
  return [
    '| twice the peak | peak req/s | offered/s | answered in time/s | ratio | bar | median ms | p99 ms | not answered with success | memory MiB | back after s | bar |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...lines.map(row),
  ].join('\n')
}

const overloadMisses = (lines) =>
  lines.flatMap((line) => [
    ...(isGood(line) ? [] : [`${line.name} at twice the peak: goodput`]),
    ...(isBack(line) ? [] : [`${line.name} at twice the peak: time until it is over`]),
  ])

export const overload = {
  name: 'overload',
  title: 'Twice the peak',
  pace: {
    full: { minutes: 30, credentials: 5_000, rounds: 5, again: 10, peakMs: 5_000, floodMs: 10_000, watchMs: 12_000 },
    quick: { minutes: 10, credentials: 3_000, rounds: 1, again: 2, peakMs: 3_000, floodMs: 10_000, watchMs: 11_000 },
  },
  measure: measureOverload,
  render: renderOverload,
  misses: overloadMisses,
}
