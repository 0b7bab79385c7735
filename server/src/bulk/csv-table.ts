import Papa from 'papaparse'
import { type Json, inexactNumberPath, parseJson } from '../kernel/json.ts'
import { mergePatch } from '../kernel/merge-patch.ts'

/** Parses CSV files of assets and locations; docs/bulk.md specifies the format. The web app shows a preview with it. */

export type Kind = 'assets' | 'locations'

/** The whole file is invalid. */
export class CsvError extends Error {}

/** The header row does not name the columns of an import. `headers` are its cells, so that a user can map them. */
export class HeaderError extends CsvError {
  readonly headers: readonly string[]

  constructor(message: string, headers: readonly string[]) {
    super(message)
    this.headers = headers
  }
}

/** The largest row without its metadata, and the metadata of a row. */
export const maxRowBytes = 64 * 1024
export const rowTooLargeMessage = `The row is larger than ${maxRowBytes} bytes`
/** The text of a row may be longer than the row, because of escapes and metadata. A longer one is not parsed. */
export const maxTextLength = 16 * maxRowBytes

/** Programs often save CSV files in an older character set, in which other letters than those of English would be wrong. */
export const notUtf8Message = 'the file is not valid UTF-8; save it as CSV UTF-8'

/** Returns the text of a whole file. */
export function decodeFile(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CsvError(notUtf8Message)
  }
}

/** An error in one line of the file. `field` is empty when the error concerns the whole line. */
interface LineProblem {
  line: number
  field: string
  message: string
}

/** One record with the API's field names, and the number of its first line. An empty cell omits its field. */
export type TableRow = { line: number; fields: Record<string, Json> } | LineProblem

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

/** Read-only fields, which a file may contain. */
export const ignoredColumns: ReadonlySet<string> = new Set([
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

/** The column for a cell of the header row; an empty name leaves the column out. */
export type ColumnMapping = ReadonlyMap<string, string>

/** Metadata has at most 1,000 members, and a record few other fields. */
export const maxColumns = 1100

const isMetadataMember = (column: string): boolean => /^metadata\../.test(column)

/** Column names are case-insensitive and may contain spaces, as in `External Key`; names of metadata members are exact. */
export function normalizeColumn(cell: string): string {
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

export const isKnownColumn = (kind: Kind, name: string): boolean =>
  importColumns[kind].includes(name) || ignoredColumns.has(name) || (kind === 'assets' && isMetadataMember(name))

/** Returns the columns that the cells of the header row name. */
function readColumns(line: number, cells: readonly string[], kind: Kind, mapping: ColumnMapping): string[] {
  if (cells.length > maxColumns)
    throw new CsvError(`line ${line}: a file has at most ${maxColumns} columns, this one has ${cells.length}`)
  const headers = cells.map((cell) => cell.trim())
  const columns = headers.map((header) => mapping.get(header) ?? normalizeColumn(header))
  const reject = (reason: string): never => {
    throw new HeaderError(`line ${line}: ${reason}`, headers)
  }
  const unknown = columns.filter((name) => !isKnownColumn(kind, name))
  if (unknown.length > 0) reject(`${kind} have no column ${unknown.map((name) => `'${name}'`).join(', ')}`)
  if (!columns.includes('external_key')) reject('the column external_key is missing')
  const names = new Set<string>()
  const duplicate = columns.find((name) => name !== '' && names.size === names.add(name).size)
  if (duplicate !== undefined) reject(`the column ${duplicate} occurs twice`)
  return columns
}

/** Null for an empty cell. Removes the apostrophe that protects a text from being run as a formula by a spreadsheet. */
function valueOf(cell: string): string | null {
  if (cell === '') return null
  return cell === "'" || /^'[=+\-@\t\r']/.test(cell) ? cell.slice(1) : cell
}

const booleans: Record<string, boolean> = { true: true, yes: true, '1': true, false: false, no: false, '0': false }

const maxDepth = 64
const encoder = new TextEncoder()

/** A text that is not JSON is passed through, because the import rejects it as metadata. */
function parseMetadata(text: string): Json {
  const outcome = parseJson(encoder.encode(text), maxDepth, { exactNumbers: true })
  return outcome.ok ? outcome.value : text
}

/** One tag per line of the cell, such as `rfid:E280…`. A line without a type is an RFID value. */
const parseTags = (cell: string): Json[] =>
  cell
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const type = tagTypes.find((name) => line.startsWith(`${name}:`))
      return type === undefined
        ? { tag_type: 'rfid', value: line }
        : { tag_type: type, value: line.slice(type.length + 1) }
    })

/** An invalid value is passed through unchanged, because the import validates it. */
function parseFields(columns: readonly string[], cells: readonly string[]): Record<string, Json> {
  const fields: Record<string, Json> = {}
  const tags: Json[] = []
  const members: [string, string][] = []
  cells.forEach((cell, index) => {
    const column = columns[index]!
    const text = valueOf(cell)
    if (text === null || ignoredColumns.has(column)) return
    if (column === 'tags') tags.push(...parseTags(text))
    else if (tagTypes.includes(column)) tags.push({ tag_type: column, value: text })
    else if (column === 'is_active') fields[column] = booleans[text.trim().toLowerCase()] ?? text
    else if (column === 'metadata') fields[column] = parseMetadata(text)
    else if (isMetadataMember(column)) members.push([column.slice('metadata.'.length), text])
    else fields[column] = text
  })
  if (members.length > 0) fields['metadata'] = mergePatch(fields['metadata'] ?? {}, Object.fromEntries(members))
  if (tags.length > 0) fields['tags'] = tags
  return fields
}

/** The error of a row with a number that a double would change, which storing the row as JSON would hide. */
export function inexactNumber(line: number, fields: Record<string, Json>): LineProblem | null {
  for (const [name, value] of Object.entries(fields)) {
    const field = inexactNumberPath(value, name)
    if (field !== null) return { line, field, message: `${field} contains a number that cannot be stored exactly` }
  }
  return null
}

const QUOTE = 0x22
const LINE_FEED = 0x0a

/** The position of the scanner: at the start of a cell, in a cell, in a quoted cell, or after a quote in a quoted cell. */
type ScanState = 'start' | 'plain' | 'quoted' | 'quote'

/** Reads a file whose text arrives in pieces. The first record that is not blank names the columns. */
export class CsvReader {
  readonly #kind: Kind
  /** A record above the limit is discarded; its row becomes this error. */
  readonly #maxRecordLength: number
  readonly #tooLong: string
  readonly #mapping: ColumnMapping
  #columns: string[] | null = null
  #delimiter = ''
  /** The text from the start of the current record on; empty when the record is too long. */
  #text = ''
  #isTooLong = false
  /** How much of the text the scanner has seen. */
  #scanned = 0
  #state: ScanState = 'start'
  /** The line in which the current record starts, and the line breaks of a record that is too long. */
  #line = 1
  #droppedLines = 0

  constructor(
    kind: Kind,
    {
      maxRecordLength = maxTextLength,
      tooLong = rowTooLargeMessage,
      mapping = new Map(),
    }: { maxRecordLength?: number; tooLong?: string; mapping?: ColumnMapping } = {},
  ) {
    this.#kind = kind
    this.#maxRecordLength = maxRecordLength
    this.#tooLong = tooLong
    this.#mapping = mapping
  }

  /** The records that end in this piece of the file. */
  *push(piece: string): Generator<TableRow> {
    this.#text += piece
    if (this.#delimiter === '') {
      this.#text = this.#text.replace(/^\uFEFF/, '')
      if (!/[\r\n]/.test(this.#text) && this.#text.length < this.#maxRecordLength) return
      this.#delimiter = detectDelimiter(this.#text)
    }
    yield* this.#records()
    if (this.#text.length > this.#maxRecordLength) this.#drop()
  }

  /** The last record. */
  *end(): Generator<TableRow> {
    yield* this.push('\n')
    if (this.#isTooLong || this.#text !== '') throw new CsvError(`line ${this.#line}: ${quoteErrors['MissingQuotes']}`)
    if (this.#columns === null) throw new CsvError('the file is empty')
  }

  *#records(): Generator<TableRow> {
    const delimiter = this.#delimiter.charCodeAt(0)
    let start = 0
    let at = this.#scanned
    for (; at < this.#text.length; at++) {
      const unit = this.#text.charCodeAt(at)
      if (this.#state === 'quoted') {
        if (unit === QUOTE) this.#state = 'quote'
      } else if (unit === LINE_FEED) {
        yield* this.#record(this.#text.slice(start, at))
        start = at + 1
        this.#state = 'start'
      } else if (unit === delimiter) this.#state = 'start'
      else if (unit === QUOTE && this.#state !== 'plain') this.#state = 'quoted'
      else this.#state = 'plain'
    }
    this.#text = this.#text.slice(start)
    this.#scanned = this.#text.length
  }

  #drop(): void {
    this.#isTooLong = true
    this.#droppedLines += lineBreaks(this.#text)
    this.#text = ''
    this.#scanned = 0
  }

  *#record(text: string): Generator<TableRow> {
    const line = this.#line
    this.#line += lineBreaks(text) + this.#droppedLines + 1
    if (this.#isTooLong || text.length > this.#maxRecordLength) {
      this.#isTooLong = false
      this.#droppedLines = 0
      if (this.#columns === null) throw new CsvError(`line ${line}: ${this.#tooLong}`)
      yield { line, field: '', message: this.#tooLong }
      return
    }
    const { data, errors } = Papa.parse<string[]>(text.replace(/\r$/, ''), {
      delimiter: this.#delimiter,
      newline: '\n',
    })
    const quote = errors.find(({ type }) => type === 'Quotes')
    if (quote !== undefined) throw new CsvError(`line ${line}: ${quoteErrors[quote.code] ?? quote.message}`)
    const cells = data[0] ?? []
    if (cells.every((cell) => cell === '')) return
    if (this.#columns === null) {
      this.#columns = readColumns(line, cells, this.#kind, this.#mapping)
    } else yield this.#row(line, cells, this.#columns)
  }

  #row(line: number, cells: readonly string[], columns: readonly string[]): TableRow {
    if (cells.length > columns.length) {
      const message = `there are ${cells.length} cells under ${columns.length} columns`
      return { line, field: '', message }
    }
    const fields = parseFields(columns, cells)
    return inexactNumber(line, fields) ?? { line, fields }
  }
}

function lineBreaks(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
