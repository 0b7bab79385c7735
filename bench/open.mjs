import { whole } from './figures.mjs'
import { startLoaded } from './loaded.mjs'
import { operations } from './operations.mjs'

const asked = ['point-read', 'list', 'create', 'patch', 'report', 'history']
const connections = { closed: 16, open: 256 }

/** What a caller meets who comes whenever it likes, at half of what callers who wait for each other get. */
async function measureOpen(started, postgres, { credentials, peakMs, measureMs, profileDir, say }) {
  const { load } = await startLoaded(started, postgres, { name: 'bench_open', credentials, profileDir })
  const lines = []
  for (const operation of asked) {
    const warmMs = 1_500
    const peak = await load({ operation, connections: connections.closed, warmMs, measureMs: peakMs })
    const perSecond = peak.perSecond / 2
    const result = await load({ operation, perSecond, connections: connections.open, warmMs, measureMs })
    lines.push({ operation, peakPerSecond: peak.perSecond, ...result })
    say(`${operation} at ${whole(perSecond)} a second: p99 ${result.p99Ms.toFixed(1)} ms`)
  }
  return lines
}

const failuresOf = ({ failures }) => Object.entries(failures).map(([why, count]) => `${whole(count)} × ${why}`)

function renderOpen(lines) {
  const row = (line) =>
    `| ${operations[line.operation].title} | ${whole(line.peakPerSecond)} | ${whole(line.offeredPerSecond)} | ` +
    `${whole(line.perSecond)} | ${line.medianMs.toFixed(2)} | ${line.p99Ms.toFixed(2)} | ${line.p999Ms.toFixed(2)} | ` +
    `${failuresOf(line).join(', ') || 'none'} |`
  return [
    '| arrivals at fixed times | peak req/s | offered/s | answered/s | median ms | p99 ms | p99.9 ms | failures |',
    '|---|--:|--:|--:|--:|--:|--:|--:|',
    ...lines.map(row),
  ].join('\n')
}

const openMisses = (lines) =>
  lines.filter((line) => failuresOf(line).length > 0).map(({ operation }) => `${operation} at half load: failures`)

export const open = {
  name: 'open',
  title: 'Arrivals at fixed times',
  pace: {
    full: { minutes: 4, credentials: 2_500, peakMs: 4_000, measureMs: 15_000 },
    quick: { minutes: 3, credentials: 1_500, peakMs: 2_000, measureMs: 4_000 },
  },
  measure: measureOpen,
  render: renderOpen,
  misses: openMisses,
}
