import { Session } from 'node:inspector/promises'

const session = new Session()
session.connect()

/** Collects all garbage of this process. */
export const collectGarbage = (): Promise<void> => session.post('HeapProfiler.collectGarbage')
