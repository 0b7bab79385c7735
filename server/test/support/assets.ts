import { beforeAll } from 'vitest'
import type { TestApp, TestOrg } from './app.ts'
import type { Client, Reply } from './client.ts'
import { type RecordJson, type TestSql, expectNoChange, create, useDatabase } from './master-data.ts'

export interface AssetJson extends RecordJson {
  metadata: Record<string, unknown>
}

export const assetsPath = '/api/v1/assets'
export const assetPath = ({ id }: { id: number }): string => `${assetsPath}/${id}`

/** One organization with a client that holds every scope of the contract, and helpers for asset tests. */
export class AssetFixture {
  readonly org: TestOrg
  readonly client: Client
  readonly #sql: TestSql

  constructor(org: TestOrg, sql: TestSql) {
    this.org = org
    this.client = org.full
    this.#sql = sql
  }

  /** Creates an asset and expects 201. */
  create(body: object = {}): Promise<AssetJson> {
    return create(this.client, 'assets', { name: 'Pallet jack', ...body }) as Promise<AssetJson>
  }

  async read({ id }: { id: number }): Promise<AssetJson> {
    const reply = await this.client.get(assetPath({ id }))
    if (reply.status !== 200) throw new Error(`asset ${id} is not readable: ${reply.text}`)
    return reply.json.data
  }

  post(body: unknown): Promise<Reply> {
    return this.client.post(assetsPath, body)
  }

  patch(asset: { id: number }, body: unknown): Promise<Reply> {
    return this.client.patch(assetPath(asset), body)
  }

  /** Sends a request and expects that it changed no master data of the organization. */
  expectNoChange(act: () => Promise<Reply>): Promise<Reply> {
    return expectNoChange(this.#sql, this.org, act)
  }
}

export interface AssetFixtures {
  readonly app: TestApp
  /** The organization that the tests of the file share. */
  readonly own: AssetFixture
  readonly sql: TestSql
  another(): Promise<AssetFixture>
}

export function useAssetFixtures(context: { readonly app: TestApp }): AssetFixtures {
  const database = useDatabase(context)
  const another = async () => new AssetFixture(await context.app.newOrg(), database.sql)
  let own: AssetFixture
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
