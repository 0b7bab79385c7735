import type { Worker } from 'node:cluster'
import { AggregatorRegistry, type Registry } from 'prom-client'

/** A worker's request for the metrics of all workers, and the supervisor's reply; null if they could not be collected. */
export interface MetricsRequest {
  metricsRequest: number
}

interface MetricsReply {
  metricsReply: number
  text: string | null
}

/** The supervisor's part: adds up the metrics of all workers for the worker that was asked for them. */
export class ClusterMetrics {
  readonly #aggregator = new AggregatorRegistry()

  async reply(worker: Worker, { metricsRequest }: MetricsRequest): Promise<void> {
    const text = await this.#aggregator.clusterMetrics().catch(() => null)
    const reply: MetricsReply = { metricsReply: metricsRequest, text }
    if (worker.isConnected()) worker.send(reply)
  }
}

/** A worker's part. Create it when the worker starts: until then, the supervisor waits for this worker's metrics. */
export class WorkerMetrics {
  readonly #pending = new Map<number, (text: string | null) => void>()
  #requests = 0

  constructor() {
    AggregatorRegistry.setRegistries([])
    // The constructor adds the listener that replies to the supervisor.
    new AggregatorRegistry()
    process.on('message', (message: Partial<MetricsReply>) => {
      if (message.metricsReply === undefined) return
      this.#pending.get(message.metricsReply)?.(message.text ?? null)
      this.#pending.delete(message.metricsReply)
    })
  }

  /** Adds the registry to the metrics of the cluster. */
  share(registry: Registry): void {
    AggregatorRegistry.setRegistries([registry])
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
}
