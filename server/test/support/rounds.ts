/**
 * How often a test repeats what depends on chance. `npm run test:all` sets `TEST_ROUNDS=full`; every other run is short.
 */
export const isFull = process.env['TEST_ROUNDS'] === 'full'

/** Rounds of a race. */
export const raceRounds = (full: number): number => (isFull ? full : Math.min(full, 20))

/** How often a crash test kills a process. */
export const killCount = (full: number): number => (isFull ? full : Math.min(full, 3))

/** Runs of a property; `TEST_SEED` fixes what they are made from. */
export const propertyRuns = (full: number): number => (isFull ? full : Math.ceil(full / 4))

/** Runs that compare the database with a reference model after several steps. */
export const modelRuns = (full: number): number => (isFull ? full : Math.ceil(full / 10))
