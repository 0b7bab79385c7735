import type { CallOptions } from '../operations.ts'
import type { Page } from '../pages.ts'
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
import { RecordResource } from './record-resource.ts'

/** Reads and changes locations. */
export class Locations extends RecordResource<Location, LocationQuery> {
  readonly #api: Primary
  readonly #natural: NaturalKey

  constructor(api: Primary, natural: NaturalKey) {
    super()
    this.#api = api
    this.#natural = natural
  }

  /** Returns one page of the locations that are valid now. */
  list(query: LocationQuery = {}, options: CallOptions = {}): Promise<Page<Location>> {
    return this.#api.request('locations.list', { query, ...options })
  }

  /** Throws a NotFoundError when the location does not exist or is deleted. */
  async get(id: number, options: CallOptions = {}): Promise<Location> {
    return (await this.#api.request('locations.get', { path: { location_id: id }, ...options })).data
  }

  protected async idOfKey(key: string, options: CallOptions): Promise<number> {
    return (await this.#natural.request('locations.get', { path: { identifier: key }, ...options })).data.surrogate_id
  }

  /** Pass an `external_key` if you can: a create without a key is not retried after a 500, because it could create two. */
  async create(location: LocationCreate, options: CallOptions = {}): Promise<Location> {
    return (await this.#api.request('locations.create', { body: location, ...options })).data
  }

  async patch(id: number, patch: LocationPatch, options: CallOptions = {}): Promise<Location> {
    return (await this.#api.request('locations.patch', { path: { location_id: id }, body: patch, ...options })).data
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
