import { median, whole } from './figures.mjs'
import { operations } from './operations.mjs'

const memoryBarMib = 150

const ratios = (above, below, of) => above.map((one, index) => of(one) / of(below[index]))

/** One line of the table: every figure is the median over the rounds, every ratio the median of the rounds' ratios. */
export function summarize(operation, size, { service, floor }) {
  const of = (rounds, key) => (rounds.length === 0 ? null : median(rounds.map((round) => round[key])))
  return {
    operation,
    size,
    servicePerSecond: of(service, 'perSecond'),
    floorPerSecond: of(floor, 'perSecond'),
    ratio: floor.length === 0 ? null : median(ratios(service, floor, (round) => round.perSecond)),
    bar: operations[operation].bar,
    medianMs: of(service, 'medianMs'),
    p99Ms: of(service, 'p99Ms'),
    floorMedianMs: of(floor, 'medianMs'),
    floorP99Ms: of(floor, 'p99Ms'),
    serviceProcessorMicros: of(service, 'processorMicros'),
    floorProcessorMicros: of(floor, 'processorMicros'),
    growth: null,
    growthBar: operations[operation].growthBar ?? null,
    failures: failuresIn([...service, ...floor]),
  }
}

/** By how much the median grew from the smallest to the largest organization, round by round. */
export const growthOf = (small, large) => median(ratios(large.service, small.service, (round) => round.medianMs))

function failuresIn(rounds) {
  const all = {}
  for (const { failures } of rounds)
    for (const [status, count] of Object.entries(failures)) all[status] = (all[status] ?? 0) + count
  return all
}

const fixed = (value, digits) => (value === null ? '–' : value.toFixed(digits))
const verdict = (isMet) => (isMet ? '' : ' ✗')

function rowOf(line) {
  const isFastEnough = line.bar === null || line.ratio >= line.bar
  const isFlatEnough = line.growth === null || line.growthBar === null || line.growth <= line.growthBar
  const growth = line.growth === null ? '' : `${fixed(line.growth, 2)}${verdict(isFlatEnough)}`
  const cells = [
    operations[line.operation].title,
    whole(line.size),
    whole(line.servicePerSecond),
    line.floorPerSecond === null ? '–' : whole(line.floorPerSecond),
    `${fixed(line.ratio, 2)}${verdict(isFastEnough)}`,
    fixed(line.bar, 2),
    fixed(line.medianMs, 2),
    fixed(line.p99Ms, 2),
    growth,
  ]
  return `| ${cells.join(' | ')} |`
}

const registerHead =
  '| operation | assets | service req/s | floor req/s | ratio | bar | median ms | p99 ms | growth |\n' +
  '|---|--:|--:|--:|--:|--:|--:|--:|--:|'

function memoryLine({ size, idleMib, afterMib }) {
  const isSmallEnough = Math.max(idleMib, afterMib) < memoryBarMib
  return (
    `Idle memory of the server process, ${whole(size)} assets: ${whole(idleMib)} MiB after the start, ` +
    `${whole(afterMib)} MiB half a minute after the load (bar ${memoryBarMib})${verdict(isSmallEnough)}  `
  )
}

export function renderRegister({ lines, memory, connections, rounds, seconds }) {
  const failed = lines.filter((line) => Object.keys(line.failures).length > 0)
  return [
    registerHead,
    ...lines.map(rowOf),
    '',
    ...memory.map(memoryLine),
    '',
    `${connections} connections, ${rounds} rounds of ${seconds} s each for service and floor in turn. ` +
      (failed.length === 0 ? 'Every request was answered with success.' : ''),
    ...failed.map((line) => `FAILED ${line.operation} at ${line.size}: ${JSON.stringify(line.failures)}`),
  ].join('\n')
}

/** Bars that were missed, failures included. */
export function registerMisses({ lines, memory }) {
  const found = []
  for (const line of lines) {
    const name = `${line.operation} at ${line.size}`
    if (line.bar !== null && line.ratio < line.bar) found.push(`${name}: ratio`)
    if (line.growth !== null && line.growthBar !== null && line.growth > line.growthBar) found.push(`${name}: growth`)
    if (Object.keys(line.failures).length > 0) found.push(`${name}: failures`)
  }
  for (const { size, idleMib, afterMib } of memory)
    if (Math.max(idleMib, afterMib) >= memoryBarMib) found.push(`memory at ${size}`)
  return found
}
