import { beforeAll } from 'vitest'
import type { TestApp, TestOrg } from './app.ts'
import type { Client, Reply } from './client.ts'
import { type RecordJson, type TestSql, changingNothing, create, useDatabase } from './master-data.ts'

export interface AssetJson extends RecordJson {
  metadata: Record<string, unknown>
}

export const assetsPath = '/api/v1/assets'
export const pathOf = ({ id }: { id: number }): string => `${assetsPath}/${id}`

/** One organization with one caller that holds every scope of the contract, and what tests of assets do with them. */
export class AssetBench {
  readonly org: TestOrg
  readonly client: Client
  readonly #sql: TestSql

  constructor(org: TestOrg, sql: TestSql) {
    this.org = org
    this.client = org.full
    this.#sql = sql
  }

  /** An asset that the test takes for granted. */
  create(body: object = {}): Promise<AssetJson> {
    return create(this.client, 'assets', { name: 'Pallet jack', ...body }) as Promise<AssetJson>
  }

  async read({ id }: { id: number }): Promise<AssetJson> {
    const reply = await this.client.get(pathOf({ id }))
    if (reply.status !== 200) throw new Error(`asset ${id} is not readable: ${reply.text}`)
    return reply.json.data
  }

  post(body: unknown): Promise<Reply> {
    return this.client.post(assetsPath, body)
  }

  patch(asset: { id: number }, body: unknown): Promise<Reply> {
    return this.client.patch(pathOf(asset), body)
  }

  /** Sends a request that must leave everything the organization has as it is. */
  changingNothing(act: () => Promise<Reply>): Promise<Reply> {
    return changingNothing(this.#sql, this.org, act)
  }
}

export interface Benches {
  readonly app: TestApp
  /** The organization the file's tests share. */
  readonly own: AssetBench
  readonly sql: TestSql
  another(): Promise<AssetBench>
}

export function useBench(context: { readonly app: TestApp }): Benches {
  const database = useDatabase(context)
  const another = async () => new AssetBench(await context.app.newOrg(), database.sql)
  let own: AssetBench
  beforeAll(async () => {
    own = await another()
  })
  return {
    get app() {
      return context.app
    },
    get own() {
      return own
    },
    get sql() {
      return database.sql
    },
    another,
  }
}
