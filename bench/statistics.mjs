/** Runs measurement rounds and computes their statistics. */
import { log } from './environment.mjs'

export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

export const median = (values) => percentile(values, 0.5)

/** Reverses the order in every second round, so that changes in the machine's speed affect all targets alike. */
async function alternate(rounds, targets) {
  const names = Object.keys(targets)
  const results = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 === 0 ? names : names.toReversed()) results[name].push(await targets[name]())
  return results
}

/**
 * Measures every target once per round, after warm-up rounds. Returns for each target the medians of its figures over the
 * rounds, and as `ratio` the median of its ratios to the last target in the same round.
 */
export async function compare(label, rounds, targets, key = 'perSecond') {
  await alternate(Math.ceil(rounds / 4), targets)
  const results = await alternate(rounds, targets)
  const reference = Object.values(results).at(-1)
  const summary = {}
  for (const [name, measured] of Object.entries(results)) {
    const medians = Object.keys(measured[0]).map((figure) => [figure, median(measured.map((result) => result[figure]))])
    const ratio = median(measured.map((result, round) => result[key] / reference[round][key]))
    summary[name] = { ...Object.fromEntries(medians), ratio }
    if (measured !== reference) log(`${label}, ${name}: ${ratio.toFixed(2)}`)
  }
  return summary
}
