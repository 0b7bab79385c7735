import type { Tx } from '../db/database.ts'
import { type Metadata, metadataSizeProblem } from '../assets/asset.ts'
import type { Instant } from '../kernel/instant.ts'
import type { BulkRepository } from '../records/bulk.ts'
import type { RecordCore } from '../records/record.ts'
import type { TagDraft } from '../tags/tag.ts'
import { type OwnedTag, ownersOf } from '../tags/tags.sql.ts'
import { type LineError, type WantedRow, isSame, mergeRow, missingTags, tagKey } from './import-row.ts'

export type Imported = RecordCore & { metadata?: Metadata; parentKey?: string | null }

/** One row that would change something, and the record it would leave behind. */
export interface Change<R> {
  line: number
  record: R
  /** What is there now; null for a record that is to be made. */
  current: R | null
  newTags: TagDraft[]
}

export interface Outcome<R> {
  changes: Change<R>[]
  unchanged: number
  errors: LineError[]
}

/** What earlier rows of the file have claimed: keys and tags with their line. */
export interface Claims {
  keys: Map<string, number>
  tags: Map<string, number>
}

/** How one kind of record is made and what only it has. */
export interface ImportAdapter<R extends Imported> {
  repository: BulkRepository<R>
  /** A record that is not there yet, without an id. */
  make: (core: RecordCore, row: WantedRow) => R
  /** What the row says beyond what every record has. */
  complete: (record: R, row: WantedRow) => R
  holds: (tag: OwnedTag, id: number) => boolean
}

/** Holds rows against what is there now. Nothing is written. */
export async function evaluate<R extends Imported>(
  tx: Tx,
  orgId: number,
  maker: ImportAdapter<R>,
  rows: readonly WantedRow[],
  claims: Claims,
  at: Instant,
): Promise<Outcome<R>> {
  const keys = rows.map((row) => row.externalKey)
  const current = new Map((await maker.repository.byKeys(tx, orgId, keys)).map((one) => [one.externalKey, one]))
  const wanted = rows.map((row) => missingTags(row, current.get(row.externalKey)))
  const starts = wanted.map(
    (
      (sum) => (tags) =>
        (sum += tags.length) - tags.length
    )(0),
  )
  const holders = await ownersOf(tx, orgId, wanted.flat())

  const outcome: Outcome<R> = { changes: [], unchanged: 0, errors: [] }
  rows.forEach((row, index) => {
    const found = current.get(row.externalKey) ?? null
    const newTags = wanted[index]!
    const held = newTags.map((_tag, place) => holders.get(starts[index]! + place))
    const record = found === null ? maker.make(newCore(row, at), row) : maker.complete(mergeRow(found, row), row)
    const isOwn = (tag: OwnedTag): boolean => found !== null && maker.holds(tag, found.id)
    const errors = [
      ...claimErrors(row, newTags, claims),
      ...(found === null && row.name === undefined ? [problem(row, 'name', 'name is required')] : []),
      ...metadataErrors(row, record),
      ...windowErrors(row, record),
      ...held.flatMap((tag, place) => (tag === undefined || isOwn(tag) ? [] : [taken(row, newTags[place]!, tag)])),
    ]
    outcome.errors.push(...errors)
    if (errors.length > 0) return
    claims.keys.set(row.externalKey, row.line)
    for (const tag of newTags) claims.tags.set(tagKey(tag), row.line)
    if (found !== null && newTags.length === 0 && isSame(found, record)) outcome.unchanged++
    else outcome.changes.push({ line: row.line, record, current: found, newTags })
  })
  return outcome
}

const problem = ({ line }: WantedRow, field: string, message: string): LineError => ({ line, field, message })

function newCore(row: WantedRow, at: Instant): RecordCore {
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

function claimErrors(row: WantedRow, newTags: readonly TagDraft[], claims: Claims): LineError[] {
  const errors: LineError[] = []
  const line = claims.keys.get(row.externalKey)
  if (line !== undefined) errors.push(problem(row, 'external_key', `external_key stands in line ${line} too`))
  const own = new Set<string>()
  for (const tag of newTags) {
    const other = own.has(tagKey(tag)) ? row.line : claims.tags.get(tagKey(tag))
    if (other !== undefined) errors.push(problem(row, placeOf(row, tag), `This tag stands in line ${other} too`))
    own.add(tagKey(tag))
  }
  return errors
}

const windowErrors = (row: WantedRow, { validFrom, validTo }: RecordCore): LineError[] =>
  validTo === null || validTo > validFrom ? [] : [problem(row, 'valid_to', 'valid_to must be after valid_from')]

function metadataErrors(row: WantedRow, { metadata }: Imported): LineError[] {
  const found = row.metadata === undefined || metadata === undefined ? null : metadataSizeProblem(metadata)
  return found === null ? [] : [problem(row, found.field, found.message)]
}

const placeOf = (row: WantedRow, tag: TagDraft): string => `tags[${row.tags.lastIndexOf(tag)}].value`

const taken = (row: WantedRow, tag: TagDraft, { holderKey }: OwnedTag): LineError =>
  problem(row, placeOf(row, tag), `This tag hangs on ${holderKey} already`)
