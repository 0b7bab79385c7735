import { createHash } from 'node:crypto'
import { apiError } from '../kernel/errors.ts'
import { type Json, parseJson } from '../kernel/json.ts'
import {
  CsvError,
  CsvReader,
  type TableRow,
  ignoredColumns,
  inexactNumber,
  maxTextLength,
  notUtf8Message,
  rowTooLargeMessage,
} from './csv-table.ts'
import { type ImportKind, type StagedRow, unreadableRow } from './import-row.ts'
import { type RowText, arrayTexts, ndjsonTexts } from './json-rows.ts'

export const uploadTypes = ['application/x-ndjson', 'application/json', 'text/csv'] as const

const maxDepth = 64

/** The limits of a batch of rows in memory. */
const batchRows = 5000
const batchBytes = 1024 * 1024

/** The rows of a body in batches. The body is parsed while it arrives, so memory does not grow with its size. */
export async function* uploadedRows(
  kind: ImportKind,
  mediaType: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<StagedRow[]> {
  let batch: StagedRow[] = []
  let bytes = 0
  for await (const { row, size } of mediaType === 'text/csv' ? csvRows(kind, chunks) : jsonRows(mediaType, chunks)) {
    batch.push(row)
    bytes += size
    if (batch.length < batchRows && bytes < batchBytes) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

/** Passes the chunks on and computes the hash of all of them. `prefix` is hashed, too. */
export function hashed(
  chunks: AsyncIterable<Buffer>,
  prefix: string,
): { chunks: AsyncIterable<Buffer>; digest: () => string } {
  const hash = createHash('sha256').update(prefix)
  async function* passOn(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk)
      yield chunk
    }
  }
  return { chunks: passOn(), digest: () => hash.digest('base64url') }
}

interface SizedRow {
  row: StagedRow
  size: number
}

async function* jsonRows(mediaType: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<SizedRow> {
  const isArray = mediaType === 'application/json'
  const texts = isArray ? arrayTexts(chunks, maxTextLength) : ndjsonTexts(chunks, maxTextLength)
  for await (const rowText of texts) yield { row: jsonRow(rowText, isArray), size: rowText.text?.length ?? 0 }
}

const parseFailures = {
  syntax: 'The line is not valid JSON',
  depth: `The row is nested deeper than ${maxDepth} levels`,
  'duplicate key': 'The row contains an object with a duplicate key',
} as const

function jsonRow({ line, text }: RowText, isArray: boolean): StagedRow {
  if (text === null) return unreadableRow({ line, field: '', message: rowTooLargeMessage })
  const outcome = parseJson(text, maxDepth, { uniqueKeys: true, exactNumbers: true })
  if (!outcome.ok) {
    if (isArray && outcome.reason === 'syntax') throw apiError.badRequest('Request body is not valid JSON')
    return unreadableRow({ line, field: '', message: parseFailures[outcome.reason] })
  }
  const { value } = outcome
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return unreadableRow({ line, field: '', message: 'The row is not a JSON object' })
  const fields = withoutReadOnly(value)
  const inexact = inexactNumber(line, fields)
  return inexact === null ? { line, content: fields } : unreadableRow(inexact)
}

/** Ignores the fields that a CSV file may contain, too, and the ids of tags, so that an export can be imported. */
function withoutReadOnly(row: { [key: string]: Json }): { [key: string]: Json } {
  const fields = Object.fromEntries(Object.entries(row).filter(([name]) => !ignoredColumns.has(name)))
  const { tags } = fields
  if (Array.isArray(tags)) fields['tags'] = tags.map(withoutId)
  return fields
}

function withoutId(tag: Json): Json {
  if (typeof tag !== 'object' || tag === null || Array.isArray(tag)) return tag
  const { id: _id, ...rest } = tag
  return rest
}

async function* csvRows(kind: ImportKind, chunks: AsyncIterable<Buffer>): AsyncGenerator<SizedRow> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const reader = new CsvReader(kind)
  const toRow = (row: TableRow): SizedRow => ({
    row: 'fields' in row ? { line: row.line, content: row.fields } : unreadableRow(row),
    size: 'fields' in row ? JSON.stringify(row.fields).length : 0,
  })
  try {
    for await (const chunk of chunks) for (const row of reader.push(decode(decoder, chunk))) yield toRow(row)
    for (const row of reader.push(decode(decoder))) yield toRow(row)
    for (const row of reader.end()) yield toRow(row)
  } catch (error) {
    throw error instanceof CsvError ? apiError.badRequest(error.message) : error
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk?: Buffer): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
  } catch {
    throw new CsvError(notUtf8Message)
  }
}
