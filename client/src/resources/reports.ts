import type { CallOptions } from '../operations.ts'
import { type Page, pagesOf, rowsOf } from '../pages.ts'
import type { Primary } from '../surfaces.ts'
import type { AssetLocation, AssetLocationQuery } from '../types.ts'

export class Reports {
  readonly #api: Primary

  constructor(api: Primary) {
    this.#api = api
  }

  /** Where everything was last seen, newest first. */
  assetLocations(query: AssetLocationQuery = {}, options: CallOptions = {}): Promise<Page<AssetLocation>> {
    return this.#api.request('reports.asset-locations', { query, ...options })
  }

  iterateAssetLocations(
    query: AssetLocationQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<AssetLocation, void, undefined> {
    return rowsOf(pagesOf(query, (page) => this.assetLocations(page, options)))
  }
}
