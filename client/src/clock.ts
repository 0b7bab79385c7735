/** Time and chance, so that tests need not wait. */
export interface Clock {
  millis(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** From 0 up to 1. */
  random(): number
}

export const systemClock: Clock = {
  millis: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const slept = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    return unlessAborted(slept, signal).finally(() => clearTimeout(timer))
  },
}

/** Waits for something that others wait for too, and stops waiting, though not the thing itself, on the signal. */
export async function unlessAborted<T>(thing: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return thing
  // Whoever stopped waiting does not hear of its failure, and nobody else need.
  thing.catch(() => undefined)
  signal.throwIfAborted()
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- fetch rejects with the reason as well
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([thing, aborted])
  } finally {
    signal.removeEventListener('abort', stop!)
  }
}
