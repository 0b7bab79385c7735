export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

export const whole = (value) => Math.round(value).toLocaleString('en-US')

/** The middle and the ends of latencies. */
export function spread(latencies) {
  const sorted = latencies.sort((a, b) => a - b)
  const at = (share) => sorted[Math.floor(sorted.length * share)] ?? NaN
  return { medianMs: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999) }
}
