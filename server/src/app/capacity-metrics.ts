import { Gauge, type Registry } from 'prom-client'
import type { FairQueue } from '../admission/fair-queue.ts'
import type { PoolUsage } from '../db/pool.ts'
import type { AppContext } from './context.ts'

/** The metrics of what requests wait for: slots of the queues, and connections to the database. */
export function capacityMetrics(
  registry: Registry,
  queues: Record<string, FairQueue>,
  { db, pubsub }: Pick<AppContext, 'db' | 'pubsub'>,
): void {
  const queueGauge = (name: string, help: string, value: (queue: FairQueue) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['queue'],
      registers: [registry],
      collect() {
        for (const [queue, state] of Object.entries(queues)) this.set({ queue }, value(state))
      },
    })
  }
  const poolGauge = (name: string, help: string, value: (usage: PoolUsage) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers: [registry],
      collect() {
        for (const [pool, usage] of Object.entries(db.poolUsage())) this.set({ pool }, value(usage))
      },
    })
  }
  new Gauge({
    name: 'lastseen_notifications_outage_seconds',
    help: 'How long the process has received no notifications of the database; 0 while it is connected.',
    registers: [registry],
    aggregator: 'max',
    collect() {
      this.set(pubsub.outageMs() / 1000)
    },
  })
  queueGauge('lastseen_http_requests_waiting', 'Requests that wait for a slot.', (queue) => queue.waiting)
  queueGauge('lastseen_http_requests_in_flight', 'Requests that have a slot.', (queue) => queue.inFlight)
  poolGauge('lastseen_database_pool_size', 'Database connections that a pool may open.', (pool) => pool.size)
  poolGauge('lastseen_database_pool_connections', 'Open database connections of a pool.', (pool) => pool.open)
  poolGauge('lastseen_database_pool_in_use', 'Database connections of a pool that are in use.', (pool) => pool.inUse)
  poolGauge(
    'lastseen_database_pool_waiting',
    'Statements and transactions that wait for a database connection of a pool.',
    (pool) => pool.waiting,
  )
}
