import { NotFoundError } from '../errors.ts'
import { type CallOptions, isValidPathSegment } from '../operations.ts'
import { type Page, iteratePages, iterateRows } from '../pages.ts'
import { type UpdateOptions, updateRecord } from '../records.ts'
import type { NaturalKey, Primary } from '../surfaces.ts'
import type {
  Location,
  LocationCreate,
  LocationPatch,
  LocationQuery,
  PageQuery,
  LocationEvent,
  LocationEventQuery,
  Renamed,
  Tag,
  TagAttach,
} from '../types.ts'

/** Reads and changes locations. */
export class Locations {
  readonly #api: Primary
  readonly #natural: NaturalKey

  constructor(api: Primary, natural: NaturalKey) {
    this.#api = api
    this.#natural = natural
  }

  /** Returns one page of the locations that are valid now. */
  list(query: LocationQuery = {}, options: CallOptions = {}): Promise<Page<Location>> {
    return this.#api.request('locations.list', { query, ...options })
  }

  /** Yields page after page; `limit` is the page size, 200 by default. */
  pages(query: LocationQuery = {}, options: CallOptions = {}): AsyncGenerator<Page<Location>, void, undefined> {
    return iteratePages(query, (page) => this.list(page, options))
  }

  /** Yields every matching location, read page by page; `limit` is the page size, 200 by default. */
  iterate(query: LocationQuery = {}, options: CallOptions = {}): AsyncGenerator<Location, void, undefined> {
    return iterateRows(this.pages(query, options))
  }

  /** Throws a NotFoundError when the location does not exist or is deleted. */
  async get(id: number, options: CallOptions = {}): Promise<Location> {
    return (await this.#api.request('locations.get', { path: { location_id: id }, ...options })).data
  }

  /** Returns the location with this key, or null. Unlike `list`, it also finds locations that are not valid now. */
  async findByKey(key: string, options: CallOptions = {}): Promise<Location | null> {
    const { data } = await this.list({ external_key: [key] }, options)
    if (data[0] !== undefined) return data[0]
    if (!isValidPathSegment(key)) return null
    try {
      const found = await this.#natural.request('locations.get', { path: { identifier: key }, ...options })
      return await this.get(found.data.surrogate_id, options)
    } catch (error) {
      if (error instanceof NotFoundError) return null
      throw error
    }
  }

  /** Pass an `external_key` if you can: a create without a key is not retried after a 500, because it could create two. */
  async create(location: LocationCreate, options: CallOptions = {}): Promise<Location> {
    return (await this.#api.request('locations.create', { body: location, ...options })).data
  }

  /**
   * Applies a merge patch: absent fields stay unchanged, null clears a field. With `updated_at` it throws a StaleError when
   * another client has changed the location meanwhile; without it, it overwrites that change.
   */
  async patch(id: number, patch: LocationPatch, options: CallOptions = {}): Promise<Location> {
    return (await this.#api.request('locations.patch', { path: { location_id: id }, body: patch, ...options })).data
  }

  /**
   * Calls `change` with a copy of the location and sends the difference. When another client has changed the location meanwhile, it
   * reads the location and calls `change` again, up to `attempts` times; then it throws a StaleError.
   */
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

  /** Changes the location's `external_key`. */
  async rename(id: number, key: string, options: CallOptions = {}): Promise<Renamed<Location>> {
    const body = { external_key: key }
    return (await this.#api.request('locations.rename', { path: { location_id: id }, body, ...options })).data
  }

  /** Deletes the location. Throws a ConflictError while other locations or assets are in it. */
  delete(id: number, options: CallOptions = {}): Promise<void> {
    return this.#api.request('locations.delete', { path: { location_id: id }, ...options })
  }

  /** Throws a ConflictError when the tag is attached to another record. */
  async attachTag(id: number, tag: TagAttach, options: CallOptions = {}): Promise<Tag> {
    return (await this.#api.request('locations.tags.attach', { path: { location_id: id }, body: tag, ...options })).data
  }

  /** Detaches the tag with this id; `tags` of the record lists the ids. */
  detachTag(id: number, tagId: number, options: CallOptions = {}): Promise<void> {
    return this.#api.request('locations.tags.detach', { path: { location_id: id, tag_id: tagId }, ...options })
  }

  /** Returns the ancestors from the root to the parent. */
  ancestors(id: number, query: PageQuery = {}, options: CallOptions = {}): Promise<Page<Location>> {
    return this.#api.request('locations.ancestors', { path: { location_id: id }, query, ...options })
  }

  /** Returns the locations directly in this one. */
  children(id: number, query: PageQuery = {}, options: CallOptions = {}): Promise<Page<Location>> {
    return this.#api.request('locations.children', { path: { location_id: id }, query, ...options })
  }

  /** Returns all locations below this one, depth first. */
  descendants(id: number, query: PageQuery = {}, options: CallOptions = {}): Promise<Page<Location>> {
    return this.#api.request('locations.descendants', { path: { location_id: id }, query, ...options })
  }

  /** Returns one page of arrivals and departures of assets, newest first. */
  history(id: number, query: LocationEventQuery = {}, options: CallOptions = {}): Promise<Page<LocationEvent>> {
    return this.#api.request('locations.history', { path: { location_id: id }, query, ...options })
  }
}
