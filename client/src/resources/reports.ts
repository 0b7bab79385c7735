import type { CallOptions } from '../operations.ts'
import { type Page, iteratePages, iterateRows } from '../pages.ts'
import type { Primary } from '../surfaces.ts'
import type { AssetLocation, AssetLocationQuery } from '../types.ts'

/** Reports over all assets. */
export class Reports {
  readonly #api: Primary

  constructor(api: Primary) {
    this.#api = api
  }

  /** Returns one page of the locations at which assets were last seen, newest first. */
  assetLocations(query: AssetLocationQuery = {}, options: CallOptions = {}): Promise<Page<AssetLocation>> {
    return this.#api.request('reports.asset-locations', { query, ...options })
  }

  /** Yields every row of the report, newest first. */
  iterateAssetLocations(
    query: AssetLocationQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<AssetLocation, void, undefined> {
    return iterateRows(iteratePages(query, (page) => this.assetLocations(page, options)))
  }
}
