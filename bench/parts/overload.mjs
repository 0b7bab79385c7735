/** Sends twice the rate that the server can handle: measures its goodput and the time until it recovers. */
import { log, residentMiB } from '../environment.mjs'
import { median } from '../statistics.mjs'
import { apiLoad, measureLoad, startLoad, startTarget } from '../targets.mjs'

const minGoodput = 0.7
const maxRecoverySeconds = 10
/** A response that arrives later than this after its request was due counts as a failure. */
const timeoutMs = 2_000
const windowMs = 500
/** The server has recovered when the median latency of a window is at most this multiple of the usual median. */
const recoveredFactor = 1.5
const inFlight = { peak: 32, usual: 128, overload: 1_000 }
const mixes = {
  'point reads': ['point read'],
  'point reads, lists, creates, reports': ['point read', 'list of 50', 'create', 'report'],
}

async function measureRound(load, server, operations, isQuick) {
  const target = 'overload'
  const measureMs = isQuick ? 2_000 : 5_000
  const pace = { warmUpMs: 1_000, measureMs }
  const peak = await measureLoad(load, apiLoad(target, operations, inFlight.peak), pace)
  const half = { target, operations, perSecond: peak.perSecond / 2, maxInFlight: inFlight.usual, windowMs }
  const usual = await load.call('runOpenLoop', { ...half, ...pace })
  const doubled = { target, operations, perSecond: peak.perSecond * 2, maxInFlight: inFlight.overload, timeoutMs }
  const overloaded = await load.call('runOpenLoop', { ...doubled, warmUpMs: 1_000, measureMs: measureMs * 2 })
  const memory = residentMiB(server.pid)
  const after = await load.call('runOpenLoop', { ...half, warmUpMs: 0, measureMs: (maxRecoverySeconds + 1) * 1000 })
  const limitMs = median(usual.windowMediansMs) * recoveredFactor
  const window = after.windowMediansMs.findIndex((value) => value !== null && value <= limitMs)
  const recoverySeconds = window === -1 ? null : ((window + 1) * windowMs) / 1000
  return { peak, overloaded, memory, recoverySeconds, ratio: overloaded.perSecond / peak.perSecond }
}

export const overload = {
  name: 'overload',
  title: 'Twice the peak',
  async measure(context) {
    const { scope, isQuick } = context
    // At low priority: otherwise the clients of an overloaded server would take CPU time from it.
    const load = await startLoad(scope, { isLowPriority: true })
    const options = { credentials: isQuick ? 3_000 : 5_000, minutesPerAsset: 1 }
    const { server, refresh } = await startTarget({ ...context, load }, 'overload', options)
    const rows = []
    for (const [name, operations] of Object.entries(mixes)) {
      const rounds = []
      for (let round = 0; round < (isQuick ? 1 : 3); round++) {
        await refresh()
        const warmUp = { warmUpMs: isQuick ? 1_000 : 3_000, measureMs: 100 }
        if (round === 0) await measureLoad(load, apiLoad('overload', operations, inFlight.peak), warmUp)
        rounds.push(await measureRound(load, server, operations, isQuick))
      }
      const inOrder = rounds.toSorted((a, b) => a.ratio - b.ratio)
      const { peak, overloaded, memory, ratio } = inOrder[Math.floor(rounds.length / 2)]
      const recoveries = rounds.map(({ recoverySeconds }) => recoverySeconds ?? Infinity)
      const recovery = { value: Math.max(...recoveries), max: maxRecoverySeconds }
      log(`overload, ${name}: ${ratio.toFixed(2)} of the peak, recovery in ${recovery.value} s`)
      log(`  not answered in time: ${JSON.stringify(overloaded.failures)}`)
      const goodput = { value: ratio, min: minGoodput }
      const { perSecond, offeredPerSecond, p50Ms, p99Ms } = overloaded
      rows.push([name, peak.perSecond, offeredPerSecond, perSecond, goodput, p50Ms, p99Ms, memory, recovery])
    }
    const rates = ['peak req/s', 'sent/s', 'answered in time/s', 'ratio']
    return { columns: ['requests', ...rates, 'p50 ms', 'p99 ms', 'memory MiB', 'recovery s'], rows }
  },
}
