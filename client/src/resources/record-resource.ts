import { NotFoundError } from '../errors.ts'
import { type CallOptions, isValidPathSegment } from '../operations.ts'
import { type Page, iteratePages, iterateRows } from '../pages.ts'
import { type UpdateOptions, updateRecord } from '../records.ts'

interface KeyedRecord {
  id: number
  updated_at: string
}

interface RecordQuery {
  limit?: number
  offset?: number
  external_key?: string[]
}

/** What assets and locations have in common. */
export abstract class RecordResource<Item extends KeyedRecord, Query extends RecordQuery> {
  /** Returns one page of the records that are valid now. */
  abstract list(query?: Query, options?: CallOptions): Promise<Page<Item>>

  /** Throws a NotFoundError when the record does not exist or is deleted. */
  abstract get(id: number, options?: CallOptions): Promise<Item>

  /**
   * Applies a merge patch: absent fields stay unchanged, null clears a field. With `updated_at` it throws a StaleError when
   * another client has changed the record meanwhile; without it, it overwrites that change.
   */
  abstract patch(id: number, patch: object, options?: CallOptions): Promise<Item>

  /** The id of the record with this key. Throws a NotFoundError when there is none. */
  protected abstract idOfKey(key: string, options: CallOptions): Promise<number>

  /** Yields page after page; `limit` is the page size, 200 by default. */
  pages(query: Query = {} as Query, options: CallOptions = {}): AsyncGenerator<Page<Item>, void, undefined> {
    return iteratePages(query, (page) => this.list(page, options))
  }

  /** Yields every matching record, read page by page; `limit` is the page size, 200 by default. */
  iterate(query: Query = {} as Query, options: CallOptions = {}): AsyncGenerator<Item, void, undefined> {
    return iterateRows(this.pages(query, options))
  }

  /** Returns the record with this key, or null. Unlike `list`, it also finds records that are not valid now. */
  async findByKey(key: string, options: CallOptions = {}): Promise<Item | null> {
    const { data } = await this.list({ external_key: [key] } as Query, options)
    if (data[0] !== undefined) return data[0]
    if (!isValidPathSegment(key)) return null
    try {
      return await this.get(await this.idOfKey(key, options), options)
    } catch (error) {
      if (error instanceof NotFoundError) return null
      throw error
    }
  }

  /**
   * Calls `change` with a copy of the record and sends the difference. When another client has changed the record meanwhile,
   * it reads the record and calls `change` again, up to `attempts` times; then it throws a StaleError.
   */
  update(
    record: number | Item,
    change: (draft: Item) => void | Promise<void>,
    { attempts, ...options }: UpdateOptions = {},
  ): Promise<Item> {
    const [id, known] = typeof record === 'number' ? [record, null] : [record.id, record]
    const access = {
      read: () => this.get(id, options),
      patch: (patch: object) => this.patch(id, patch, options),
    }
    return updateRecord(access, known, change, attempts)
  }
}
