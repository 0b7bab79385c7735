import type { Tx } from '../db/database.ts'
import { SerializationConflict } from '../db/constraint-errors.ts'
import { type Clock, nextUpdate } from '../kernel/clock.ts'
import type { Instant } from '../kernel/instant.ts'
import { incrementImported } from '../records/counts.sql.ts'
import { searchText } from '../records/record.ts'
import type { Tag } from '../tags/tag.ts'
import { insertTagsOfMany } from '../tags/tags.sql.ts'
import type { Change, Imported, ImportAdapter } from './import-evaluator.ts'
import { isSame, tagKey } from './import-row.ts'

type NewTag = Tag & { assetId: number | null; locationId: number | null }

/** Ids taken before the transaction began: taking them inside would want a second connection. */
export interface IdPool {
  records: number[]
  tags: number[]
}

const tagsAtOnce = 5000

/** Writes changes in batches; totals and tags come last, in the order in which everybody takes those locks. */
export class ImportWriter<R extends Imported> {
  readonly #tx: Tx
  readonly #orgId: number
  readonly #maker: ImportAdapter<R>
  readonly #ids: IdPool
  readonly #clock: Clock
  readonly #tags: NewTag[] = []
  #active = 0
  #inactive = 0

  constructor(tx: Tx, orgId: number, maker: ImportAdapter<R>, ids: IdPool, clock: Clock) {
    this.#tx = tx
    this.#orgId = orgId
    this.#maker = maker
    this.#ids = ids
    this.#clock = clock
  }

  /** Gives the ids that the new records got, by key. */
  async write(changes: readonly Change<R>[]): Promise<Map<string, number>> {
    const made = changes.filter((change) => change.current === null).map((change) => this.#made(change))
    const changed = changes.flatMap((change) =>
      change.current === null ? [] : [this.#changed(change, change.current)],
    )
    const { repository } = this.#maker
    if (made.length > 0 && (await repository.insert(this.#tx, this.#orgId, made)) < made.length)
      throw new SerializationConflict('a key was taken while the import ran')
    if (changed.length > 0) await repository.update(this.#tx, this.#orgId, changed)
    return new Map(made.map(({ record }) => [record.externalKey, record.id]))
  }

  async finish(at: Instant): Promise<void> {
    const { kind } = this.#maker.repository
    if (this.#active !== 0 || this.#inactive !== 0)
      await incrementImported(this.#tx, this.#orgId, kind, { active: this.#active, inactive: this.#inactive })
    const sorted = this.#tags.sort((a, b) => (tagKey(a) < tagKey(b) ? -1 : 1))
    for (let start = 0; start < sorted.length; start += tagsAtOnce) {
      const some = sorted.slice(start, start + tagsAtOnce)
      if ((await insertTagsOfMany(this.#tx, this.#orgId, some, at)) < some.length)
        throw new SerializationConflict('a tag was taken while the import ran')
    }
  }

  #made({ record, newTags }: Change<R>) {
    const whole = { ...record, id: this.#ids.records.pop()! }
    if (whole.isActive) this.#active++
    else this.#inactive++
    this.#attach(whole.id, newTags)
    return { record: whole, search: searchText(whole, newTags) }
  }

  /** Attaching a tag does not move `updated_at`. */
  #changed({ record, newTags }: Change<R>, current: R) {
    const updatedAt = isSame(record, current) ? current.updatedAt : nextUpdate(this.#clock, current.updatedAt)
    if (record.isActive !== current.isActive) {
      this.#active += record.isActive ? 1 : -1
      this.#inactive += record.isActive ? -1 : 1
    }
    this.#attach(record.id, newTags)
    return { record: { ...record, updatedAt }, search: searchText(record, [...current.tags, ...newTags]) }
  }

  #attach(holder: number, tags: Change<R>['newTags']): void {
    const [assetId, locationId] = this.#maker.repository.kind === 'asset' ? [holder, null] : [null, holder]
    // Tags of one moment are shown in the order of their ids.
    const ids = tags.map(() => this.#ids.tags.pop()!).sort((a, b) => a - b)
    tags.forEach((tag, index) => this.#tags.push({ ...tag, id: ids[index]!, assetId, locationId }))
  }
}
