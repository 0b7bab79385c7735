import { median } from './figures.mjs'

const looks = 3
const mostMs = 8_000

/**
 * Rounds in which callers who wait for each other get a few answers each, however slow these are. `look` asks once and
 * gives the milliseconds it took.
 */
export async function longEnough(look, { connections, warmMs, measureMs }) {
  const times = []
  for (let count = 0; count < looks; count++) times.push((await look()).ms)
  // Two cores work on what the callers want.
  const latencyMs = (median(times) * connections) / 2
  return { warmMs: Math.min(mostMs / 2, Math.max(warmMs, latencyMs)), measureMs: windowMs(latencyMs, measureMs) }
}

const windowMs = (latencyMs, least) => Math.round(Math.min(mostMs, Math.max(least, 3 * latencyMs)))
