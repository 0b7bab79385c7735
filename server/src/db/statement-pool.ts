import { forceGenericPlans, hasGenericPlan } from './plan-cache.ts'
import { PipelinedPool, type PoolOptions, type PoolUsage } from './pool.ts'
import { limitTemporaryFiles } from './resources.ts'
import { type Sql, render } from './sql.ts'

/** Single statements on one server. Statements with a generic plan use separate connections, see `plan-cache.ts`. */
export class StatementPool {
  readonly #generic: PipelinedPool
  readonly #auto: PipelinedPool

  constructor(options: PoolOptions) {
    this.#generic = new PipelinedPool({
      ...options,
      onConnect: (client) => Promise.all([client.query(limitTemporaryFiles), client.query(forceGenericPlans)]),
    })
    this.#auto = new PipelinedPool({ ...options, onConnect: (client) => client.query(limitTemporaryFiles) })
  }

  query<Row extends object>(statement: Sql): Promise<Row[]> {
    return (hasGenericPlan(statement) ? this.#generic : this.#auto).query<Row>(render(statement))
  }

  get usage(): PoolUsage {
    const [generic, auto] = [this.#generic.usage, this.#auto.usage]
    return {
      size: generic.size + auto.size,
      open: generic.open + auto.open,
      inUse: generic.inUse + auto.inUse,
      waiting: generic.waiting + auto.waiting,
    }
  }

  destroyAll(): void {
    this.#generic.destroyAll()
    this.#auto.destroyAll()
  }

  async close(): Promise<void> {
    await Promise.all([this.#generic.close(), this.#auto.close()])
  }
}
