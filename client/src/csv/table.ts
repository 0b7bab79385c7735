import Papa from 'papaparse'
import { InexactNumberError, parseExactJson } from '../exact-json.ts'
import { applyMergePatch } from '../merge-patch.ts'
import type { TagAttach } from '../types.ts'

/** Parses CSV files of assets and locations for the command line and the web app. docs/bulk.md specifies the format. */

export type Kind = 'assets' | 'locations'

/** The whole file is invalid. */
export class CsvError extends Error {}

/** An error in one line of the file. `field` is empty when the error concerns the whole line. */
export interface LineProblem {
  line: number
  field: string
  message: string
}

/** One record with the API's field names, and the number of its first line. An empty cell omits its field. */
interface TableRow {
  line: number
  fields: Record<string, unknown>
}

export interface Table {
  kind: Kind
  columns: string[]
  rows: TableRow[]
  problems: LineProblem[]
}

/** The columns of exports. */
const leadingColumns = ['external_key', 'name', 'description']
const trailingColumns = ['is_active', 'valid_from', 'valid_to', 'tags']
export const exportColumns: Record<Kind, readonly string[]> = {
  assets: [...leadingColumns, 'metadata', ...trailingColumns],
  locations: [...leadingColumns, 'parent_external_key', ...trailingColumns],
}

/** Imports also accept one column per tag type, with one tag each. */
const tagTypes: readonly string[] = ['rfid', 'ble', 'barcode']
export const importColumns: Record<Kind, readonly string[]> = {
  assets: [...exportColumns.assets, ...tagTypes],
  locations: [...exportColumns.locations, ...tagTypes],
}

/** Read-only columns, which a file may contain. */
const ignoredColumns = new Set([
  '',
  'id',
  'created_at',
  'updated_at',
  'deleted_at',
  'parent_id',
  'location_id',
  'location_external_key',
  'location_name',
  'last_seen_at',
])

const isMetadataMember = (column: string): boolean => /^metadata\../.test(column)

/** Column names are case-insensitive and may contain spaces, as in `External Key`; names of metadata members are exact. */
function normalizeColumn(cell: string): string {
  const [, member] = /^metadata\.(.+)$/i.exec(cell.trim()) ?? []
  return member === undefined ? cell.trim().toLowerCase().replaceAll(' ', '_') : `metadata.${member}`
}

/** Comma, semicolon or tab, depending on which occurs most often in the first line. */
function detectDelimiter(text: string): string {
  const first = text.slice(0, text.search(/[\r\n]|$/))
  const counts = [',', ';', '\t'].map((delimiter) => [delimiter, first.split(delimiter).length] as const)
  return counts.sort((a, b) => b[1] - a[1])[0]![0]
}

const quoteErrors: Record<string, string> = {
  MissingQuotes: 'a quote is never closed',
  InvalidQuotes: 'text follows a closing quote',
}

/** Calls `onRecord` for each record that is not blank, with the number of its first line. */
function forEachRecord(source: string, onRecord: (line: number, cells: string[]) => void): void {
  const text = source.replace(/^\uFEFF/, '')
  let [line, start] = [1, 0]
  Papa.parse<string[]>(text, {
    delimiter: detectDelimiter(text),
    step({ data, errors, meta }) {
      const quote = errors.find(({ type }) => type === 'Quotes')
      if (quote !== undefined) throw new CsvError(`line ${line}: ${quoteErrors[quote.code] ?? quote.message}`)
      if (data.some((cell) => cell !== '')) onRecord(line, data)
      line += text.slice(start, meta.cursor).match(/\r\n|\n|\r/g)?.length ?? 0
      start = meta.cursor
    },
  })
}

/** Checks the column names and returns the kind of the records. */
function checkColumns(line: number, columns: readonly string[], expectedKind: Kind | undefined): Kind {
  const kind = expectedKind ?? (columns.includes('parent_external_key') ? 'locations' : 'assets')
  const isKnown = (name: string): boolean =>
    importColumns[kind].includes(name) || ignoredColumns.has(name) || (kind === 'assets' && isMetadataMember(name))
  const reject = (reason: string): never => {
    throw new CsvError(`line ${line}: ${reason}`)
  }
  const unknown = columns.filter((name) => !isKnown(name))
  if (unknown.length > 0) reject(`${kind} have no column ${unknown.map((name) => `'${name}'`).join(', ')}`)
  if (!columns.includes('external_key')) reject('the column external_key is missing')
  const duplicate = columns.find((name, index) => name !== '' && columns.indexOf(name) !== index)
  if (duplicate !== undefined) reject(`the column ${duplicate} occurs twice`)
  return kind
}

/** Null for an empty cell. Removes the apostrophe that protects a text from being run as a formula by a spreadsheet. */
export function valueOf(cell: string): string | null {
  if (cell === '') return null
  return cell === "'" || /^'[=+\-@\t\r']/.test(cell) ? cell.slice(1) : cell
}

const booleans: Record<string, boolean> = { true: true, yes: true, '1': true, false: false, no: false, '0': false }

function parseMetadata(text: string): unknown {
  try {
    return parseExactJson(text, 'metadata')
  } catch (error) {
    if (error instanceof InexactNumberError) throw error
    return text
  }
}

/** One tag per line of the cell, such as `rfid:E280…`. A line without a type is an RFID value. */
const parseTags = (cell: string): TagAttach[] =>
  cell
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const type = tagTypes.find((name) => line.startsWith(`${name}:`))
      return type === undefined
        ? { tag_type: 'rfid', value: line }
        : { tag_type: type, value: line.slice(type.length + 1) }
    })

/**
 * An invalid value is passed through unchanged, because the server validates it. A number in metadata that JavaScript would
 * change throws an InexactNumberError, because the server could not detect that.
 */
function parseFields(columns: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  const tags: TagAttach[] = []
  const members: [string, string][] = []
  columns.forEach((column, index) => {
    const text = valueOf(cells[index] ?? '')
    if (text === null || ignoredColumns.has(column)) return
    if (column === 'tags') tags.push(...parseTags(text))
    else if (tagTypes.includes(column)) tags.push({ tag_type: column, value: text })
    else if (column === 'is_active') fields[column] = booleans[text.trim().toLowerCase()] ?? text
    else if (column === 'metadata') fields[column] = parseMetadata(text)
    else if (isMetadataMember(column)) members.push([column.slice('metadata.'.length), text])
    else fields[column] = text
  })
  if (members.length > 0) fields['metadata'] = applyMergePatch(fields['metadata'] ?? {}, Object.fromEntries(members))
  if (tags.length > 0) fields['tags'] = tags
  return fields
}

function addRow(table: Table, line: number, cells: readonly string[]): void {
  try {
    table.rows.push({ line, fields: parseFields(table.columns, cells) })
  } catch (error) {
    if (!(error instanceof InexactNumberError)) throw error
    table.problems.push({ line, field: error.path, message: error.message })
  }
}

/** Parses a whole file, whose first line names the columns. Without `expectedKind`, the columns determine the kind. */
export function readTable(text: string, expectedKind: Kind | undefined): Table {
  let table: Table | undefined
  forEachRecord(text, (line, cells) => {
    if (table === undefined) {
      const columns = cells.map(normalizeColumn)
      table = { kind: checkColumns(line, columns, expectedKind), columns, rows: [], problems: [] }
    } else if (cells.length > table.columns.length) {
      const message = `there are ${cells.length} cells under ${table.columns.length} columns`
      table.problems.push({ line, field: '', message })
    } else addRow(table, line, cells)
  })
  if (table === undefined) throw new CsvError('the file is empty')
  return table
}
