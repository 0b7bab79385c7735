/** Pauses after the first and the second failure. After the third, the event is dropped. */
export const pausesMs: readonly number[] = [1000, 5000]

/** Twenty per cent less to twenty per cent more, so that endpoints are not all asked again in the same moment. */
export const jittered = (pauseMs: number, chance: () => number = Math.random): number =>
  Math.round(pauseMs * (0.8 + 0.4 * chance()))
