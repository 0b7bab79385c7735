import { NotFoundError } from '../errors.ts'
import { type Page, iteratePages, iterateRows } from '../pages.ts'
import { type UpdateOptions, updateRecord } from '../records.ts'
import { type CallOptions, isValidPathSegment } from '../operations.ts'
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

/** Reads and changes assets. */
export class Assets {
  readonly #api: Primary
  readonly #natural: NaturalKey

  constructor(api: Primary, natural: NaturalKey) {
    this.#api = api
    this.#natural = natural
  }

  /** Returns one page of the assets that are valid now. */
  list(query: AssetQuery = {}, options: CallOptions = {}): Promise<Page<Asset>> {
    return this.#api.request('assets.list', { query, ...options })
  }

  /** Yields page after page; `limit` is the page size, 200 by default. */
  pages(query: AssetQuery = {}, options: CallOptions = {}): AsyncGenerator<Page<Asset>, void, undefined> {
    return iteratePages(query, (page) => this.list(page, options))
  }

  /** Yields every matching asset, read page by page; `limit` is the page size, 200 by default. */
  iterate(query: AssetQuery = {}, options: CallOptions = {}): AsyncGenerator<Asset, void, undefined> {
    return iterateRows(this.pages(query, options))
  }

  /** Throws a NotFoundError when the asset does not exist or is deleted. */
  async get(id: number, options: CallOptions = {}): Promise<Asset> {
    return (await this.#api.request('assets.get', { path: { asset_id: id }, ...options })).data
  }

  /** Returns the asset with this key, or null. Unlike `list`, it also finds assets that are not valid now. */
  async findByKey(key: string, options: CallOptions = {}): Promise<Asset | null> {
    const { data } = await this.list({ external_key: [key] }, options)
    if (data[0] !== undefined) return data[0]
    if (!isValidPathSegment(key)) return null
    try {
      const found = await this.#natural.request('assets.get', { path: { identifier: key }, ...options })
      return await this.get(found.data.surrogate_id, options)
    } catch (error) {
      if (error instanceof NotFoundError) return null
      throw error
    }
  }

  /** Pass an `external_key` if you can: a create without a key is not retried after a 500, because it could create two. */
  async create(asset: AssetCreate, options: CallOptions = {}): Promise<Asset> {
    return (await this.#api.request('assets.create', { body: asset, ...options })).data
  }

  /**
   * Applies a merge patch: absent fields stay unchanged, null clears a field. With `updated_at` it throws a StaleError when
   * another client has changed the asset meanwhile; without it, it overwrites that change.
   */
  async patch(id: number, patch: AssetPatch, options: CallOptions = {}): Promise<Asset> {
    return (await this.#api.request('assets.patch', { path: { asset_id: id }, body: patch, ...options })).data
  }

  /**
   * Calls `change` with a copy of the asset and sends the difference. When another client has changed the asset meanwhile, it
   * reads the asset and calls `change` again, up to `attempts` times; then it throws a StaleError.
   */
  update(
    asset: number | Asset,
    change: (draft: Asset) => void | Promise<void>,
    { attempts, ...options }: UpdateOptions = {},
  ): Promise<Asset> {
    const [id, known] = typeof asset === 'number' ? [asset, null] : [asset.id, asset]
    const access = {
      read: () => this.get(id, options),
      patch: (patch: AssetPatch) => this.patch(id, patch, options),
    }
    return updateRecord(access, known, change, attempts)
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
