/** Time and randomness. Tests pass their own clock so that they need not wait for retries. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  millis(): number
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** A number from 0 (inclusive) to 1 (exclusive). */
  random(): number
}

export const systemClock: Clock = {
  millis: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const elapsed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    return raceAbort(elapsed, signal).finally(() => clearTimeout(timer))
  },
}

/**
 * Waits for a promise that several callers share. An abort rejects only this caller's wait; the shared work continues.
 */
export async function raceAbort<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return shared
  // After an abort no caller may be left to handle a rejection, which would then be reported as unhandled.
  shared.catch(() => undefined)
  signal.throwIfAborted()
  let onAbort: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- fetch rejects with the reason as well
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([shared, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort!)
  }
}
