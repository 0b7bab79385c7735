import Papa from 'papaparse'
import { InexactNumberError, parseExactJson } from '../exact-json.ts'
import { applyMergePatch } from '../merge-patch.ts'
import type { TagAttach } from '../types.ts'

/** How CSV files of assets and locations are read, by the command line and by the web app alike; docs/bulk.md says the same. */

export type Kind = 'assets' | 'locations'

/** The file as a whole cannot be read. */
export class CsvError extends Error {}

/** What is wrong with a line of the file. */
export interface LineProblem {
  line: number
  field: string
  message: string
}

/** One record, by the names of the API, and the number of the line it begins in. An empty cell leaves its field out. */
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
const common = ['external_key', 'name', 'description']
const state = ['is_active', 'valid_from', 'valid_to', 'tags']
export const exportColumns: Record<Kind, readonly string[]> = {
  assets: [...common, 'metadata', ...state],
  locations: [...common, 'parent_external_key', ...state],
}

/** Imports take one tag of each type in a column of its own as well. */
const tagTypes: readonly string[] = ['rfid', 'ble', 'barcode']
export const importColumns: Record<Kind, readonly string[]> = {
  assets: [...exportColumns.assets, ...tagTypes],
  locations: [...exportColumns.locations, ...tagTypes],
}

/** Columns that files may carry and nobody can set. */
const ignored = new Set([
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

const isMember = (column: string): boolean => /^metadata\../.test(column)

/** Names of columns may be written in capitals and with blanks: `External Key`. Members of metadata are taken as they are. */
function columnOf(cell: string): string {
  const [, member] = /^metadata\.(.+)$/i.exec(cell.trim()) ?? []
  return member === undefined ? cell.trim().toLowerCase().replaceAll(' ', '_') : `metadata.${member}`
}

/** Comma, semicolon or tab: what occurs most often in the first line. */
function delimiterOf(text: string): string {
  const first = text.slice(0, text.search(/[\r\n]|$/))
  const counts = [',', ';', '\t'].map((one) => [one, first.split(one).length] as const)
  return counts.sort((a, b) => b[1] - a[1])[0]![0]
}

const quoteProblems: Record<string, string> = {
  MissingQuotes: 'a quote is never closed',
  InvalidQuotes: 'text follows a closing quote',
}

/** Calls back for each record that is not blank, with the number of the line it begins in. */
function forEachRecord(source: string, take: (line: number, cells: string[]) => void): void {
  const text = source.replace(/^\uFEFF/, '')
  let [line, start] = [1, 0]
  Papa.parse<string[]>(text, {
    delimiter: delimiterOf(text),
    step({ data, errors, meta }) {
      const quote = errors.find(({ type }) => type === 'Quotes')
      if (quote !== undefined) throw new CsvError(`line ${line}: ${quoteProblems[quote.code] ?? quote.message}`)
      if (data.some((cell) => cell !== '')) take(line, data)
      line += text.slice(start, meta.cursor).match(/\r\n|\n|\r/g)?.length ?? 0
      start = meta.cursor
    },
  })
}

/** Checks the names of the columns and says what the file holds. */
function kindOf(line: number, columns: readonly string[], asked: Kind | undefined): Kind {
  const kind = asked ?? (columns.includes('parent_external_key') ? 'locations' : 'assets')
  const isKnown = (name: string): boolean =>
    importColumns[kind].includes(name) || ignored.has(name) || (kind === 'assets' && isMember(name))
  const refuse = (why: string): never => {
    throw new CsvError(`line ${line}: ${why}`)
  }
  const unknown = columns.filter((name) => !isKnown(name))
  if (unknown.length > 0) refuse(`${kind} have no column ${unknown.map((one) => `'${one}'`).join(', ')}`)
  if (!columns.includes('external_key')) refuse('the column external_key is missing')
  const twice = columns.find((name, at) => name !== '' && columns.indexOf(name) !== at)
  if (twice !== undefined) refuse(`the column ${twice} is there twice`)
  return kind
}

/** No value is an empty cell; an apostrophe before a text that a spreadsheet would run is taken off again. */
export function valueOf(cell: string): string | null {
  if (cell === '') return null
  return cell === "'" || /^'[=+\-@\t\r']/.test(cell) ? cell.slice(1) : cell
}

const booleans: Record<string, boolean> = { true: true, yes: true, '1': true, false: false, no: false, '0': false }

function metadataFrom(text: string): unknown {
  try {
    return parseExactJson(text, 'metadata')
  } catch (error) {
    if (error instanceof InexactNumberError) throw error
    return text
  }
}

/** One tag per line of the cell, such as `rfid:E280…`. A line without a type is an RFID value. */
const tagsFrom = (cell: string): TagAttach[] =>
  cell
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const type = tagTypes.find((one) => line.startsWith(`${one}:`))
      return type === undefined
        ? { tag_type: 'rfid', value: line }
        : { tag_type: type, value: line.slice(type.length + 1) }
    })

/**
 * A value that makes no sense is passed on as it is: the server says what is wrong with it. A number in metadata that
 * would be sent as another one throws an InexactNumberError, because the server could not notice.
 */
function fieldsFrom(columns: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  const tags: TagAttach[] = []
  const members: [string, string][] = []
  columns.forEach((column, at) => {
    const text = valueOf(cells[at] ?? '')
    if (text === null || ignored.has(column)) return
    if (column === 'tags') tags.push(...tagsFrom(text))
    else if (tagTypes.includes(column)) tags.push({ tag_type: column, value: text })
    else if (column === 'is_active') fields[column] = booleans[text.trim().toLowerCase()] ?? text
    else if (column === 'metadata') fields[column] = metadataFrom(text)
    else if (isMember(column)) members.push([column.slice('metadata.'.length), text])
    else fields[column] = text
  })
  if (members.length > 0) fields['metadata'] = applyMergePatch(fields['metadata'] ?? {}, Object.fromEntries(members))
  if (tags.length > 0) fields['tags'] = tags
  return fields
}

function addRow(table: Table, line: number, cells: readonly string[]): void {
  try {
    table.rows.push({ line, fields: fieldsFrom(table.columns, cells) })
  } catch (error) {
    if (!(error instanceof InexactNumberError)) throw error
    table.problems.push({ line, field: error.path, message: error.message })
  }
}

/** The whole file. The first line names the columns; without `asked` they tell assets from locations. */
export function readTable(text: string, asked: Kind | undefined): Table {
  let table: Table | undefined
  forEachRecord(text, (line, cells) => {
    if (table === undefined) {
      const columns = cells.map(columnOf)
      table = { kind: kindOf(line, columns, asked), columns, rows: [], problems: [] }
    } else if (cells.length > table.columns.length) {
      const message = `there are ${cells.length} cells under ${table.columns.length} columns`
      table.problems.push({ line, field: '', message })
    } else addRow(table, line, cells)
  })
  if (table === undefined) throw new CsvError('the file is empty')
  return table
}
