import { forceGenericPlans, hasGenericPlan } from './plans.ts'
import { PipelinedPool, type PoolOptions } from './pool.ts'
import { type Sql, render } from './sql.ts'

/** Single statements on one server: those with a generic plan on connections of their own, see `plans.ts`. */
export class Reader {
  readonly #generic: PipelinedPool
  readonly #auto: PipelinedPool

  constructor(options: PoolOptions) {
    this.#generic = new PipelinedPool({ ...options, onConnect: (client) => client.query(forceGenericPlans) })
    this.#auto = new PipelinedPool(options)
  }

  query<Row extends object>(statement: Sql): Promise<Row[]> {
    return (hasGenericPlan(statement) ? this.#generic : this.#auto).query<Row>(render(statement))
  }

  /** Rejects when the server does not answer. */
  async ping(): Promise<void> {
    await this.#auto.query({ text: 'select 1' })
  }

  destroyAll(): void {
    this.#generic.destroyAll()
    this.#auto.destroyAll()
  }

  async close(): Promise<void> {
    await Promise.all([this.#generic.close(), this.#auto.close()])
  }
}
