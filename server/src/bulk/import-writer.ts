import type { Tx } from '../db/database.ts'
import { SerializationConflictError } from '../db/constraint-errors.ts'
import { type Clock, nextUpdate } from '../kernel/clock.ts'
import type { Instant } from '../kernel/instant.ts'
import { inSlices, sortSteps } from '../kernel/slices.ts'
import { incrementImported } from '../records/counts.sql.ts'
import { searchText } from '../records/record.ts'
import type { Tag } from '../tags/tag.ts'
import { insertTagsOfMany } from '../tags/tags.sql.ts'
import type { Change, Imported, ImportAdapter } from './import-evaluator.ts'
import { type NewTag, isSame } from './import-row.ts'

/** A tag and the id of its record. An import keeps them in memory until it ends, so they have no further fields. */
type AttachedTag = Tag & Pick<NewTag, 'key'> & { recordId: number }

/** Ids that were reserved in advance, because reserving an id during the import would need a second connection. */
export interface IdPool {
  records: number[]
  tags: number[]
}

const tagBatchSize = 5000

/** Writes changes in batches. Counts and tags come last, in the lock order of all other transactions. */
export class ImportWriter<R extends Imported> {
  readonly #tx: Tx
  readonly #orgId: number
  readonly #adapter: ImportAdapter<R>
  readonly #ids: IdPool
  readonly #clock: Clock
  readonly #tags: AttachedTag[] = []
  #active = 0
  #inactive = 0

  constructor(tx: Tx, orgId: number, adapter: ImportAdapter<R>, ids: IdPool, clock: Clock) {
    this.#tx = tx
    this.#orgId = orgId
    this.#adapter = adapter
    this.#ids = ids
    this.#clock = clock
  }

  /** Returns the ids of the new records, by key. */
  async write(changes: readonly Change<R>[]): Promise<Map<string, number>> {
    const created = changes.filter((change) => change.current === null).map((change) => this.#create(change))
    const changed = changes.flatMap((change) => (change.current === null ? [] : [this.#update(change, change.current)]))
    const { repository } = this.#adapter
    if (created.length > 0 && (await repository.insert(this.#tx, this.#orgId, created)) < created.length)
      throw new SerializationConflictError('a key was taken while the import ran')
    if (changed.length > 0) await repository.update(this.#tx, this.#orgId, changed)
    return new Map(created.map(({ record }) => [record.externalKey, record.id]))
  }

  async finish(at: Instant): Promise<void> {
    const { kind } = this.#adapter.repository
    if (this.#active !== 0 || this.#inactive !== 0)
      await incrementImported(this.#tx, this.#orgId, kind, { active: this.#active, inactive: this.#inactive })
    const sorted = await inSlices(sortSteps(this.#tags, (a, b) => (a.key < b.key ? -1 : 1)))
    for (let start = 0; start < sorted.length; start += tagBatchSize) {
      const batch = sorted.slice(start, start + tagBatchSize).map(({ recordId, ...tag }) => {
        return kind === 'asset'
          ? { ...tag, assetId: recordId, locationId: null }
          : { ...tag, assetId: null, locationId: recordId }
      })
      if ((await insertTagsOfMany(this.#tx, this.#orgId, batch, at)) < batch.length)
        throw new SerializationConflictError('a tag was taken while the import ran')
    }
  }

  #create({ record, newTags }: Change<R>) {
    const created = { ...record, id: this.#ids.records.pop()! }
    if (created.isActive) this.#active++
    else this.#inactive++
    this.#attach(created.id, newTags)
    return { record: created, search: searchText(created, newTags) }
  }

  /** Attaching a tag does not change `updated_at`. */
  #update({ record, newTags }: Change<R>, current: R) {
    const updatedAt = isSame(record, current) ? current.updatedAt : nextUpdate(this.#clock, current.updatedAt)
    if (record.isActive !== current.isActive) {
      this.#active += record.isActive ? 1 : -1
      this.#inactive += record.isActive ? -1 : 1
    }
    this.#attach(record.id, newTags)
    return { record: { ...record, updatedAt }, search: searchText(record, [...current.tags, ...newTags]) }
  }

  #attach(recordId: number, tags: Change<R>['newTags']): void {
    // Tags with the same creation time are listed by id.
    const ids = tags.map(() => this.#ids.tags.pop()!).sort((a, b) => a - b)
    tags.forEach(({ type, value, key }, index) => this.#tags.push({ id: ids[index]!, type, value, key, recordId }))
  }
}
