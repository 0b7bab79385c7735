/** Delays after the first and the second failed attempt. After the third, the event is dropped. */
export const retryDelaysMs: readonly number[] = [1000, 5000]

/** Adds or removes up to 20 %, so that events that failed together are not retried together. */
export const withJitter = (delayMs: number, random: () => number = Math.random): number =>
  Math.round(delayMs * (0.8 + 0.4 * random()))
