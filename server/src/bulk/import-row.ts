import type { Metadata } from '../assets/asset.ts'
import { boolean, jsonObject, instant } from '../http/validation/fields.ts'
import { type Infer, type ValidationContext, nullable, optional, parseObject } from '../http/validation/schema.ts'
import type { FieldProblem } from '../kernel/errors.ts'
import type { Instant } from '../kernel/instant.ts'
import { isSameJson } from '../kernel/json.ts'
import { mergePatch } from '../kernel/merge-patch.ts'
import { descriptionField, keyField, nameField, tagDraftsField } from '../records/fields.ts'
import { type BaseRecord, isShownAs } from '../records/record.ts'
import { type TagDraft, tagKey } from '../tags/tag.ts'
import { maxRowBytes, rowTooLargeMessage } from './csv-table.ts'

export type ImportKind = 'assets' | 'locations'
export const importKinds: readonly ImportKind[] = ['assets', 'locations']

export const importStates = ['open', 'waiting', 'checking', 'checked', 'running', 'done', 'failed'] as const
export type ImportState = (typeof importStates)[number]

/** The job that an import waits for or runs. */
export type ImportJob = 'check' | 'run' | 'run_skipping_errors'

/** Whether rows may create records, change existing ones, or both. */
export const importModes = ['create', 'update', 'upsert'] as const
export type ImportMode = (typeof importModes)[number]

/** Whether an invalid row aborts the run, so that nothing is changed, or is skipped. */
export const errorPolicies = ['abort', 'skip'] as const
export type ErrorPolicy = (typeof errorPolicies)[number]

/** How the rows are applied. */
export interface ImportOptions {
  mode: ImportMode
  /** The rows are only checked. */
  isDryRun: boolean
  onError: ErrorPolicy
}

export const maxRows = 200_000
export const maxUploadMebibytes = 64
export const maxImportBytes = maxUploadMebibytes * 1024 * 1024

/** The maximum number of tags that an import attaches. Tags that are attached already do not count. */
export const maxImportTags = 200_000

/** The maximum number of idempotency keys that an organization uses within 24 hours. */
export const maxIdempotencyKeys = 10_000

export interface LineError {
  line: number
  field: string
  message: string
}

/** The result of checking or running the rows. */
export interface ImportResult {
  creates: number
  updates: number
  unchanged: number
  /** The number of invalid rows. */
  failed: number
  errorsTotal: number
  /** The first errors, up to a limit. */
  errors: LineError[]
}

export interface Import extends ImportResult, ImportOptions {
  id: number
  kind: ImportKind
  state: ImportState
  job: ImportJob | null
  /** The rows arrived in one request of the public API, and the import cannot be run again. */
  isBulk: boolean
  rows: number
  createdAt: Instant
  changedAt: Instant
}

export interface StagedRow {
  line: number
  /** A JSON object. For a row that could not be read or was too large to store, the field and the message of its error. */
  content: unknown
}

/** A row of which only its error is stored; the check reports it. */
export const unreadableRow = ({ line, field, message }: LineError): StagedRow => ({ line, content: [field, message] })

const metadataTooLargeMessage = `The metadata of the row is larger than ${maxRowBytes} bytes`

const sizeOf = (value: unknown): number => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)))

/** For a row that is too large, only this fact is stored; the check reports it. Metadata has its own, equal limit [D52]. */
export function withinBounds(row: StagedRow): StagedRow {
  const { line, content } = row
  if (Array.isArray(content)) return row
  const { metadata, ...rest } = content as { metadata?: unknown }
  if (sizeOf(rest) > maxRowBytes) return unreadableRow({ line, field: '', message: rowTooLargeMessage })
  if (sizeOf(metadata) <= maxRowBytes) return row
  return unreadableRow({ line, field: 'metadata', message: metadataTooLargeMessage })
}

const shared = {
  external_key: keyField,
  name: optional(nameField),
  description: optional(nullable(descriptionField)),
}

const state = {
  is_active: optional(boolean),
  valid_from: optional(instant),
  valid_to: optional(nullable(instant)),
  tags: optional(tagDraftsField),
}

const rowSchemas = {
  assets: { ...shared, metadata: optional(jsonObject), ...state },
  locations: { ...shared, parent_external_key: optional(nullable(keyField)), ...state },
}

/** A validated row. An absent field, null and a value have different meanings. */
export interface WantedRow {
  line: number
  externalKey: string
  name?: string | undefined
  description?: string | null | undefined
  metadata?: Metadata | undefined
  parentKey?: string | null | undefined
  isActive?: boolean | undefined
  validFrom?: Instant | undefined
  validTo?: Instant | null | undefined
  tags: TagDraft[]
}

/** Validates a row with the rules of the public API's create and patch. Returns all errors of the row. */
export function readRow(kind: ImportKind, { line, content }: StagedRow): WantedRow | LineError[] {
  if (Array.isArray(content)) {
    const [field, message] = content as [string, string]
    return [{ line, field, message }]
  }
  const report: ValidationContext = { problems: [], aborted: false }
  const shape: typeof rowSchemas.assets & Partial<typeof rowSchemas.locations> = rowSchemas[kind] as never
  const row = parseObject(shape, content as Record<string, unknown>, '', report) as
    Infer<typeof rowSchemas.assets & Pick<typeof rowSchemas.locations, 'parent_external_key'>> | undefined
  if (row === undefined) return report.problems.map((problem) => errorAt(line, problem))
  return {
    line,
    externalKey: row.external_key,
    name: row.name,
    description: row.description,
    metadata: row.metadata,
    parentKey: row.parent_external_key,
    isActive: row.is_active,
    validFrom: row.valid_from,
    validTo: row.valid_to,
    tags: (row.tags ?? []).map((tag) => ({ type: tag.tag_type, value: tag.value })),
  }
}

const errorAt = (line: number, { field, message }: Pick<FieldProblem, 'field' | 'message'>): LineError => ({
  line,
  field,
  message,
})

/** The result of a run in progress. */
export interface CollectedResult extends ImportResult {
  /** The size of `errors` as JSON. */
  errorBytes: number
}

export const emptyResult = (): CollectedResult => ({
  creates: 0,
  updates: 0,
  unchanged: 0,
  failed: 0,
  errorsTotal: 0,
  errors: [],
  errorBytes: 0,
})

/** Limits of the errors that an import keeps. Further errors are only counted. */
export const maxErrors = 10_000
export const maxErrorBytes = 1024 * 1024

/** An unknown key of a row is the field of its error and part of the message, so both may be as long as a row. */
const maxFieldLength = 255
const maxMessageLength = 500

function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  // A character has one or two code units.
  const characters = Array.from(text.slice(0, 2 * (maxLength + 1)))
  return characters.length <= maxLength ? text : `${characters.slice(0, maxLength).join('')}…`
}

function keep(result: CollectedResult, { line, field, message }: LineError): void {
  if (result.errors.length >= maxErrors || result.errorBytes >= maxErrorBytes) return
  const error = { line, field: cut(field, maxFieldLength), message: cut(message, maxMessageLength) }
  result.errorBytes += Buffer.byteLength(JSON.stringify(error)) + 1
  if (result.errorBytes < maxErrorBytes) result.errors.push(error)
}

/** Adds errors. Those of one row come in the same call; those of the whole import have the line 0. */
export function noteErrors(result: CollectedResult, errors: readonly LineError[]): void {
  result.errorsTotal += errors.length
  result.failed += new Set(errors.flatMap(({ line }) => (line === 0 ? [] : [line]))).size
  for (const error of errors) keep(result, error)
}

/** A tag that a row attaches. Its key is stored, because an import keeps many tags in memory and compares them. */
export interface NewTag extends TagDraft {
  key: string
  /** The index of the tag in its row. */
  index: number
}

/** The tags that are not attached to the record yet. An import attaches tags but never detaches them. */
export function missingTags(row: WantedRow, current: Pick<BaseRecord, 'tags'> | undefined): NewTag[] {
  const attached = new Set((current?.tags ?? []).map(tagKey))
  return row.tags
    .map(({ type, value }, index) => ({ type, value, key: tagKey({ type, value }), index }))
    .filter(({ key }) => !attached.has(key))
}

const changedInstant = (given: Instant | undefined, current: Instant): Instant =>
  given === undefined || isShownAs(current, given) ? current : given

/** Applies the row. Times that are shown identically stay unchanged, so importing an export changes nothing. */
export function mergeRow<R extends BaseRecord & { metadata?: Metadata }>(current: R, row: WantedRow): R {
  const validTo =
    row.validTo === undefined
      ? current.validTo
      : row.validTo === null || current.validTo === null
        ? row.validTo
        : changedInstant(row.validTo, current.validTo)
  return {
    ...current,
    name: row.name ?? current.name,
    description: row.description === undefined ? current.description : row.description,
    isActive: row.isActive ?? current.isActive,
    validFrom: changedInstant(row.validFrom, current.validFrom),
    validTo,
    ...(row.metadata === undefined ? {} : { metadata: mergePatch(current.metadata ?? {}, row.metadata) as Metadata }),
  }
}

/** Whether the records have equal visible fields. */
export function isSame<R extends BaseRecord & { metadata?: Metadata; parentKey?: string | null }>(a: R, b: R): boolean {
  return (
    a.name === b.name &&
    a.description === b.description &&
    a.isActive === b.isActive &&
    a.validFrom === b.validFrom &&
    a.validTo === b.validTo &&
    a.parentKey === b.parentKey &&
    (a.metadata === b.metadata || isSameJson(a.metadata, b.metadata))
  )
}
