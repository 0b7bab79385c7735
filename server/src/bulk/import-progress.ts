import { LRUCache } from 'lru-cache'
import type { PubSub } from '../db/pubsub.ts'
import type { ImportState } from './import-row.ts'

export const progressTopic = 'import'
const publishIntervalMs = 300

/**
 * Which imports have started, and how many of their rows are done. An import is one transaction, so the database shows
 * neither before its end; the process that runs it publishes events.
 */
export class ImportProgress {
  readonly #pubsub: Pick<PubSub, 'publish'>
  /** By state and id, because the progress of a check must not be used for the run. */
  readonly #doneRows = new LRUCache<string, number>({ max: 1000 })
  /** The imports that this process has put in the queue, and that no process has started. */
  readonly #waiting = new Set<number>()

  constructor(pubsub: Pick<PubSub, 'publish'>) {
    this.#pubsub = pubsub
  }

  get waiting(): number {
    return this.#waiting.size
  }

  doneRows(state: ImportState, id: number): number {
    return this.#doneRows.get(`${state} ${id}`) ?? 0
  }

  /** Called before the commit, after which another process may start the import. */
  queued(id: number): void {
    this.#waiting.add(id)
  }

  /** Returns the function that reports how many rows are done. */
  started(state: ImportState, id: number): (done: number) => void {
    let publishedAtMs = 0
    const report = (done: number): void => {
      const payload = `${state} ${id} ${done}`
      this.onEvent(payload)
      if (performance.now() - publishedAtMs < publishIntervalMs) return
      publishedAtMs = performance.now()
      this.#publish(payload)
    }
    report(0)
    return report
  }

  /** An import was deleted before it started. */
  removed(id: number): void {
    this.#waiting.delete(id)
    this.#publish(`removed ${id} 0`)
  }

  /** Handles an event of any process. */
  onEvent(payload: string): void {
    const [state = '', id = '', done = ''] = payload.split(' ')
    this.#waiting.delete(Number(id))
    this.#doneRows.set(`${state} ${id}`, Number(done))
  }

  /** Other processes may have started the imports that wait. */
  onMissedEvents(): void {
    this.#waiting.clear()
  }

  #publish(payload: string): void {
    void this.#pubsub.publish(progressTopic, payload).catch(() => undefined)
  }
}
