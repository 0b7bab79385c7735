/** Runs a periodic job once, and counts and logs its outcome. Never rejects. */
export type RunJob = (job: string, work: () => Promise<unknown>) => Promise<void>
