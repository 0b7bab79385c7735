import type { Tx } from '../db/database.ts'
import { type Metadata, metadataSizeProblem } from '../assets/asset.ts'
import type { Instant } from '../kernel/instant.ts'
import { inSlices, mapSteps } from '../kernel/slices.ts'
import type { BulkRepository } from '../records/bulk.ts'
import type { BaseRecord } from '../records/record.ts'
import { maxTagsPerRecord } from '../tags/tag.ts'
import { type OwnedTag, ownersOf } from '../tags/tags.sql.ts'
import {
  type ImportMode,
  type LineError,
  type NewTag,
  type WantedRow,
  isSame,
  maxImportTags,
  mergeRow,
  missingTags,
} from './import-row.ts'

export type Imported = BaseRecord & { metadata?: Metadata; parentKey?: string | null }

/** A row that creates or changes a record, and the resulting record. */
export interface Change<R> {
  line: number
  record: R
  /** The current record; null when the row creates one. */
  current: R | null
  newTags: NewTag[]
}

export interface Outcome<R> {
  changes: Change<R>[]
  unchanged: number
  errors: LineError[]
}

/** The keys and tags of earlier rows of the file, with their line numbers. */
export interface EarlierRows {
  keys: Map<string, number>
  tags: Map<string, number>
}

/** The operations specific to one kind of record. */
export interface ImportAdapter<R extends Imported> {
  repository: BulkRepository<R>
  /** Builds a new record, without an id. */
  make: (base: BaseRecord, row: WantedRow) => R
  /** Applies the fields of the row that only this kind of record has. */
  complete: (record: R, row: WantedRow) => R
  holds: (tag: OwnedTag, id: number) => boolean
}

/** Compares the rows with the current records. Nothing is written. */
export async function evaluate<R extends Imported>(
  tx: Tx,
  orgId: number,
  adapter: ImportAdapter<R>,
  rows: readonly WantedRow[],
  earlier: EarlierRows,
  at: Instant,
  mode: ImportMode,
): Promise<Outcome<R>> {
  const keys = rows.map((row) => row.externalKey)
  const current = new Map((await adapter.repository.byKeys(tx, orgId, keys)).map((one) => [one.externalKey, one]))
  const newTagsByRow = await inSlices(mapSteps(rows, (row) => missingTags(row, current.get(row.externalKey))))
  const owners = await ownersOf(tx, orgId, newTagsByRow.flat())

  const outcome: Outcome<R> = { changes: [], unchanged: 0, errors: [] }
  let firstTag = 0
  const evaluateRow = (row: WantedRow, index: number): void => {
    const existing = current.get(row.externalKey) ?? null
    const newTags = newTagsByRow[index]!
    const start = firstTag
    firstTag += newTags.length
    const tagOwners = newTags.map((_tag, tagIndex) => owners.get(start + tagIndex))
    const record =
      existing === null ? adapter.make(newRecord(row, at), row) : adapter.complete(mergeRow(existing, row), row)
    const isOwn = (tag: OwnedTag): boolean => existing !== null && adapter.holds(tag, existing.id)
    const errors = [
      ...duplicateErrors(row, newTags, earlier),
      ...modeErrors(row, existing, mode, adapter.repository.kind),
      ...metadataErrors(row, record),
      ...tagCountErrors(row, (existing?.tags.length ?? 0) + newTags.length),
      ...importTagErrors(row, newTags, earlier),
      ...periodErrors(row, record),
      ...tagOwners.flatMap((tag, tagIndex) =>
        tag === undefined || isOwn(tag) ? [] : [alreadyAttached(row, newTags[tagIndex]!, tag)],
      ),
    ]
    outcome.errors.push(...errors)
    if (errors.length > 0) return
    earlier.keys.set(row.externalKey, row.line)
    for (const tag of newTags) earlier.tags.set(tag.key, row.line)
    if (existing !== null && newTags.length === 0 && isSame(existing, record)) outcome.unchanged++
    else outcome.changes.push({ line: row.line, record, current: existing, newTags })
  }
  await inSlices(mapSteps(rows, evaluateRow))
  return outcome
}

const problem = ({ line }: WantedRow, field: string, message: string): LineError => ({ line, field, message })

function newRecord(row: WantedRow, at: Instant): BaseRecord {
  return {
    id: 0,
    externalKey: row.externalKey,
    name: row.name ?? '',
    description: row.description ?? null,
    isActive: row.isActive ?? true,
    validFrom: row.validFrom ?? at,
    validTo: row.validTo ?? null,
    createdAt: at,
    updatedAt: at,
    deletedAt: null,
    tags: [],
  }
}

/** A row that creates a record needs a name. */
function modeErrors(
  row: WantedRow,
  existing: Imported | null,
  mode: ImportMode,
  kind: 'asset' | 'location',
): LineError[] {
  if (existing !== null) return mode === 'create' ? [problem(row, 'external_key', 'external_key already exists')] : []
  const noun = kind === 'asset' ? 'an asset' : 'a location'
  if (mode === 'update') return [problem(row, 'external_key', `external_key does not name ${noun}`)]
  return row.name === undefined ? [problem(row, 'name', 'name is required')] : []
}

function duplicateErrors(row: WantedRow, newTags: readonly NewTag[], earlier: EarlierRows): LineError[] {
  const errors: LineError[] = []
  const line = earlier.keys.get(row.externalKey)
  if (line !== undefined) errors.push(problem(row, 'external_key', `external_key also appears in line ${line}`))
  const own = new Set<string>()
  for (const tag of newTags) {
    const other = own.has(tag.key) ? row.line : earlier.tags.get(tag.key)
    if (other !== undefined) errors.push(problem(row, fieldOf(tag), `This tag also appears in line ${other}`))
    own.add(tag.key)
  }
  return errors
}

const periodErrors = (row: WantedRow, { validFrom, validTo }: BaseRecord): LineError[] =>
  validTo === null || validTo > validFrom ? [] : [problem(row, 'valid_to', 'valid_to must be after valid_from')]

function metadataErrors(row: WantedRow, { metadata }: Imported): LineError[] {
  const sizeProblem = row.metadata === undefined || metadata === undefined ? null : metadataSizeProblem(metadata)
  return sizeProblem === null ? [] : [problem(row, sizeProblem.field, sizeProblem.message)]
}

const tagCountErrors = (row: WantedRow, count: number): LineError[] =>
  row.tags.length === 0 || count <= maxTagsPerRecord
    ? []
    : [problem(row, 'tags', `A record has at most ${maxTagsPerRecord} tags; with this row it would have ${count}`)]

/** The tags that an import attaches are kept in memory until it ends. */
const importTagErrors = (row: WantedRow, newTags: readonly NewTag[], { tags }: EarlierRows): LineError[] =>
  newTags.length === 0 || tags.size + newTags.length <= maxImportTags
    ? []
    : [problem(row, 'tags', `An import attaches at most ${maxImportTags} tags; split the file`)]

const fieldOf = ({ index }: NewTag): string => `tags[${index}].value`

const alreadyAttached = (row: WantedRow, tag: NewTag, { ownerKey }: OwnedTag): LineError =>
  problem(row, fieldOf(tag), `This tag is already attached to ${ownerKey}`)
