import { NotFoundError } from '../errors.ts'
import { type CallOptions, isSpeakable } from '../operations.ts'
import { type Page, pagesOf, rowsOf } from '../pages.ts'
import { type UpdateOptions, updateRecord } from '../records.ts'
import type { NaturalKey, Primary } from '../surfaces.ts'
import type {
  Location,
  LocationCreate,
  LocationPatch,
  LocationQuery,
  PageQuery,
  Passage,
  PassageQuery,
  Renamed,
  Tag,
  TagAttach,
} from '../types.ts'

export class Locations {
  readonly #api: Primary
  readonly #natural: NaturalKey

  constructor(api: Primary, natural: NaturalKey) {
    this.#api = api
    this.#natural = natural
  }

  /** One page of what is valid now. */
  list(query: LocationQuery = {}, options: CallOptions = {}): Promise<Page<Location>> {
    return this.#api.request('locations.list', { query, ...options })
  }

  pages(query: LocationQuery = {}, options: CallOptions = {}): AsyncGenerator<Page<Location>, void, undefined> {
    return pagesOf(query, (page) => this.list(page, options))
  }

  /** Every location the query matches, read page by page; `limit` is the size of a page. */
  iterate(query: LocationQuery = {}, options: CallOptions = {}): AsyncGenerator<Location, void, undefined> {
    return rowsOf(this.pages(query, options))
  }

  async get(id: number, options: CallOptions = {}): Promise<Location> {
    return (await this.#api.request('locations.get', { path: { location_id: id }, ...options })).data
  }

  /** The live location with this key, valid now or not; null when there is none. */
  async findByKey(key: string, options: CallOptions = {}): Promise<Location | null> {
    const { data } = await this.list({ external_key: [key] }, options)
    if (data[0] !== undefined) return data[0]
    if (!isSpeakable(key)) return null
    try {
      const found = await this.#natural.request('locations.get', { path: { identifier: key }, ...options })
      return await this.get(found.data.surrogate_id, options)
    } catch (error) {
      if (error instanceof NotFoundError) return null
      throw error
    }
  }

  /** Give it a key of its own where you can: without one it is not sent again after a 500, as two might come of it. */
  async create(location: LocationCreate, options: CallOptions = {}): Promise<Location> {
    return (await this.#api.request('locations.create', { body: location, ...options })).data
  }

  /** A merge patch: what it does not name stays, null clears. Carry `updated_at` to get a StaleError instead of overwriting. */
  async patch(id: number, patch: LocationPatch, options: CallOptions = {}): Promise<Location> {
    return (await this.#api.request('locations.patch', { path: { location_id: id }, body: patch, ...options })).data
  }

  /** Changes the draft it is given; done again on a fresh one when somebody else was faster. */
  update(
    location: number | Location,
    change: (draft: Location) => void | Promise<void>,
    { attempts, ...options }: UpdateOptions = {},
  ): Promise<Location> {
    const [id, known] = typeof location === 'number' ? [location, null] : [location.id, location]
    const access = {
      read: () => this.get(id, options),
      patch: (patch: LocationPatch) => this.patch(id, patch, options),
    }
    return updateRecord(access, known, change, attempts)
  }

  async rename(id: number, key: string, options: CallOptions = {}): Promise<Renamed<Location>> {
    const body = { external_key: key }
    return (await this.#api.request('locations.rename', { path: { location_id: id }, body, ...options })).data
  }

  delete(id: number, options: CallOptions = {}): Promise<void> {
    return this.#api.request('locations.delete', { path: { location_id: id }, ...options })
  }

  async attachTag(id: number, tag: TagAttach, options: CallOptions = {}): Promise<Tag> {
    return (await this.#api.request('locations.tags.attach', { path: { location_id: id }, body: tag, ...options })).data
  }

  detachTag(id: number, tagId: number, options: CallOptions = {}): Promise<void> {
    return this.#api.request('locations.tags.detach', { path: { location_id: id, tag_id: tagId }, ...options })
  }

  /** From the root down to its parent. */
  ancestors(id: number, query: PageQuery = {}, options: CallOptions = {}): Promise<Page<Location>> {
    return this.#api.request('locations.ancestors', { path: { location_id: id }, query, ...options })
  }

  children(id: number, query: PageQuery = {}, options: CallOptions = {}): Promise<Page<Location>> {
    return this.#api.request('locations.children', { path: { location_id: id }, query, ...options })
  }

  /** All that is inside, depth first. */
  descendants(id: number, query: PageQuery = {}, options: CallOptions = {}): Promise<Page<Location>> {
    return this.#api.request('locations.descendants', { path: { location_id: id }, query, ...options })
  }

  /** What arrived here and what left, newest first. */
  history(id: number, query: PassageQuery = {}, options: CallOptions = {}): Promise<Page<Passage>> {
    return this.#api.request('locations.history', { path: { location_id: id }, query, ...options })
  }
}
