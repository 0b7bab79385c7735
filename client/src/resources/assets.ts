import { NotFoundError } from '../errors.ts'
import { type Page, pagesOf, rowsOf } from '../pages.ts'
import { type UpdateOptions, updateRecord } from '../records.ts'
import { type CallOptions, isSpeakable } from '../operations.ts'
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

export class Assets {
  readonly #api: Primary
  readonly #natural: NaturalKey

  constructor(api: Primary, natural: NaturalKey) {
    this.#api = api
    this.#natural = natural
  }

  /** One page of what is valid now. */
  list(query: AssetQuery = {}, options: CallOptions = {}): Promise<Page<Asset>> {
    return this.#api.request('assets.list', { query, ...options })
  }

  pages(query: AssetQuery = {}, options: CallOptions = {}): AsyncGenerator<Page<Asset>, void, undefined> {
    return pagesOf(query, (page) => this.list(page, options))
  }

  /** Every asset the query matches, read page by page; `limit` is the size of a page. */
  iterate(query: AssetQuery = {}, options: CallOptions = {}): AsyncGenerator<Asset, void, undefined> {
    return rowsOf(this.pages(query, options))
  }

  async get(id: number, options: CallOptions = {}): Promise<Asset> {
    return (await this.#api.request('assets.get', { path: { asset_id: id }, ...options })).data
  }

  /** The live asset with this key, valid now or not; null when there is none. */
  async findByKey(key: string, options: CallOptions = {}): Promise<Asset | null> {
    const { data } = await this.list({ external_key: [key] }, options)
    if (data[0] !== undefined) return data[0]
    if (!isSpeakable(key)) return null
    try {
      const found = await this.#natural.request('assets.get', { path: { identifier: key }, ...options })
      return await this.get(found.data.surrogate_id, options)
    } catch (error) {
      if (error instanceof NotFoundError) return null
      throw error
    }
  }

  /** Give it a key of its own where you can: without one it is not sent again after a 500, as two might come of it. */
  async create(asset: AssetCreate, options: CallOptions = {}): Promise<Asset> {
    return (await this.#api.request('assets.create', { body: asset, ...options })).data
  }

  /** A merge patch: what it does not name stays, null clears. Carry `updated_at` to get a StaleError instead of overwriting. */
  async patch(id: number, patch: AssetPatch, options: CallOptions = {}): Promise<Asset> {
    return (await this.#api.request('assets.patch', { path: { asset_id: id }, body: patch, ...options })).data
  }

  /** Changes the draft it is given; done again on a fresh one when somebody else was faster. */
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

  async rename(id: number, key: string, options: CallOptions = {}): Promise<Renamed<Asset>> {
    const body = { external_key: key }
    return (await this.#api.request('assets.rename', { path: { asset_id: id }, body, ...options })).data
  }

  delete(id: number, options: CallOptions = {}): Promise<void> {
    return this.#api.request('assets.delete', { path: { asset_id: id }, ...options })
  }

  async attachTag(id: number, tag: TagAttach, options: CallOptions = {}): Promise<Tag> {
    return (await this.#api.request('assets.tags.attach', { path: { asset_id: id }, body: tag, ...options })).data
  }

  detachTag(id: number, tagId: number, options: CallOptions = {}): Promise<void> {
    return this.#api.request('assets.tags.detach', { path: { asset_id: id, tag_id: tagId }, ...options })
  }

  /** Where it has been, newest first. */
  history(id: number, query: HistoryQuery = {}, options: CallOptions = {}): Promise<Page<HistoryRow>> {
    return this.#api.request('assets.history', { path: { asset_id: id }, query, ...options })
  }

  iterateHistory(
    id: number,
    query: HistoryQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<HistoryRow, void, undefined> {
    return rowsOf(pagesOf(query, (page) => this.history(id, page, options)))
  }
}
