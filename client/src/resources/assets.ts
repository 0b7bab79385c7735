import { type Page, iteratePages, iterateRows } from '../pages.ts'
import type { CallOptions } from '../operations.ts'
import type { NaturalKey, Primary } from '../surfaces.ts'
import type {
  Asset,
  AssetCreate,
  AssetPatch,
  AssetQuery,
  HistoryQuery,
  HistoryRow,
  Renamed,
  Tag,
  TagAttach,
} from '../types.ts'
import { RecordResource } from './record-resource.ts'

/** Reads and changes assets. */
export class Assets extends RecordResource<Asset, AssetQuery> {
  readonly #api: Primary
  readonly #natural: NaturalKey

  constructor(api: Primary, natural: NaturalKey) {
    super()
    this.#api = api
    this.#natural = natural
  }

  /** Returns one page of the assets that are valid now. */
  list(query: AssetQuery = {}, options: CallOptions = {}): Promise<Page<Asset>> {
    return this.#api.request('assets.list', { query, ...options })
  }

  /** Throws a NotFoundError when the asset does not exist or is deleted. */
  async get(id: number, options: CallOptions = {}): Promise<Asset> {
    return (await this.#api.request('assets.get', { path: { asset_id: id }, ...options })).data
  }

  protected async idOfKey(key: string, options: CallOptions): Promise<number> {
    return (await this.#natural.request('assets.get', { path: { identifier: key }, ...options })).data.surrogate_id
  }

  /** Pass an `external_key` if you can: a create without a key is not retried after a 500, because it could create two. */
  async create(asset: AssetCreate, options: CallOptions = {}): Promise<Asset> {
    return (await this.#api.request('assets.create', { body: asset, ...options })).data
  }

  async patch(id: number, patch: AssetPatch, options: CallOptions = {}): Promise<Asset> {
    return (await this.#api.request('assets.patch', { path: { asset_id: id }, body: patch, ...options })).data
  }

  /** Changes the asset's `external_key`. */
  async rename(id: number, key: string, options: CallOptions = {}): Promise<Renamed<Asset>> {
    const body = { external_key: key }
    return (await this.#api.request('assets.rename', { path: { asset_id: id }, body, ...options })).data
  }

  /** Deletes the asset and detaches its tags. A deleted asset cannot be restored. */
  delete(id: number, options: CallOptions = {}): Promise<void> {
    return this.#api.request('assets.delete', { path: { asset_id: id }, ...options })
  }

  /** Throws a ConflictError when the tag is attached to another record. */
  async attachTag(id: number, tag: TagAttach, options: CallOptions = {}): Promise<Tag> {
    return (await this.#api.request('assets.tags.attach', { path: { asset_id: id }, body: tag, ...options })).data
  }

  /** Detaches the tag with this id; `tags` of the record lists the ids. */
  detachTag(id: number, tagId: number, options: CallOptions = {}): Promise<void> {
    return this.#api.request('assets.tags.detach', { path: { asset_id: id, tag_id: tagId }, ...options })
  }

  /** Returns one page of the locations at which the asset was seen, newest first. */
  history(id: number, query: HistoryQuery = {}, options: CallOptions = {}): Promise<Page<HistoryRow>> {
    return this.#api.request('assets.history', { path: { asset_id: id }, query, ...options })
  }

  /** Yields the whole history, newest first. */
  iterateHistory(
    id: number,
    query: HistoryQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<HistoryRow, void, undefined> {
    return iterateRows(iteratePages(query, (page) => this.history(id, page, options)))
  }
}
