import type { Worker } from 'node:cluster'
import { AggregatorRegistry, type MetricObject, type Registry } from 'prom-client'

/** A worker's request for the metrics of all workers. */
export interface MetricsRequest {
  metricsRequest: number
}

/** The supervisor's reply; null if they could not be collected. */
interface MetricsReply {
  metricsReply: number
  text: string | null
}

/** The supervisor's question for the metrics of one worker. */
interface MetricsQuestion {
  metricsQuestion: number
}

/** The metrics of one worker, or why they could not be read. */
export interface MetricsReport {
  metricsAnswer: number
  metrics: MetricObject[] | null
}

const timeoutMs = 5000

/** Metrics whose values outlive the worker that counted them. */
const isCumulative = ({ type }: MetricObject): boolean => ['counter', 'histogram', 'summary'].includes(String(type))

const merge = (all: MetricObject[][]): Registry => AggregatorRegistry.aggregate(all)

/**
 * Runs in the supervisor: adds up the metrics of all workers for the worker that was asked for them. The counters of a
 * worker that has ended stay in the sums as they were at the last scrape, so that no counter falls when a worker is
 * replaced.
 */
export class ClusterMetrics {
  /** The workers that serve requests, each with its metrics at the last scrape. */
  readonly #latest = new Map<Worker, MetricObject[]>()
  #ended: MetricObject[] = []
  readonly #pending = new Map<number, { worker: Worker; done: (metrics: MetricObject[] | null) => void }>()
  #questions = 0

  add(worker: Worker): void {
    this.#latest.set(worker, [])
  }

  remove(worker: Worker): void {
    const last = this.#latest.get(worker) ?? []
    if (!this.#latest.delete(worker)) return
    this.#ended = merge([this.#ended, last.filter(isCumulative)]).getMetricsAsArray()
    for (const { worker: asked, done } of this.#pending.values()) if (asked === worker) done([])
  }

  receive({ metricsAnswer, metrics }: MetricsReport): void {
    this.#pending.get(metricsAnswer)?.done(metrics)
  }

  async reply(worker: Worker, { metricsRequest }: MetricsRequest): Promise<void> {
    const areKnown = await Promise.all([...this.#latest.keys()].map((one) => this.#update(one)))
    const isComplete = areKnown.every(Boolean)
    const text = isComplete ? await merge([this.#ended, ...this.#latest.values()]).metrics() : null
    const reply: MetricsReply = { metricsReply: metricsRequest, text }
    if (worker.isConnected()) worker.send(reply)
  }

  /** Asks a worker for its metrics. False when it does not answer. */
  async #update(worker: Worker): Promise<boolean> {
    if (!worker.isConnected()) return true
    const number = this.#questions++
    let timer: NodeJS.Timeout | undefined
    const metrics = await new Promise<MetricObject[] | null>((done) => {
      this.#pending.set(number, { worker, done })
      timer = setTimeout(() => done(null), timeoutMs)
      const question: MetricsQuestion = { metricsQuestion: number }
      worker.send(question, (error) => error !== null && done([]))
    })
    clearTimeout(timer)
    this.#pending.delete(number)
    if (metrics === null) return false
    // A worker that has ended meanwhile is already among the ended ones.
    if (metrics.length > 0 && this.#latest.has(worker)) this.#latest.set(worker, metrics)
    return true
  }
}

/** Runs in a worker: requests the metrics of all workers, and answers the supervisor with its own. */
export class WorkerMetrics {
  readonly #pending = new Map<number, (text: string | null) => void>()
  #requests = 0
  #registry: Registry | undefined

  constructor() {
    process.on('message', (message: Partial<MetricsReply & MetricsQuestion>) => {
      if (message.metricsQuestion !== undefined) return void this.#answer(message.metricsQuestion)
      if (message.metricsReply === undefined) return
      this.#pending.get(message.metricsReply)?.(message.text ?? null)
      this.#pending.delete(message.metricsReply)
    })
  }

  /** Adds the registry to the metrics of the cluster. */
  share(registry: Registry): void {
    this.#registry = registry
  }

  /** The metrics of all workers. */
  async collect(): Promise<string> {
    const request: MetricsRequest = { metricsRequest: this.#requests++ }
    const text = await new Promise<string | null>((resolve) => {
      this.#pending.set(request.metricsRequest, resolve)
      process.send!(request)
    })
    if (text === null) throw new Error('the metrics of the workers could not be collected')
    return text
  }

  async #answer(metricsAnswer: number): Promise<void> {
    const metrics = await Promise.resolve(this.#registry?.getMetricsAsJSON() ?? []).catch(() => null)
    const answer: MetricsReport = { metricsAnswer, metrics }
    if (process.connected) process.send!(answer)
  }
}
