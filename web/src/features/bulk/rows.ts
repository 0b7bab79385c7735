import { csvRows } from '../../lib/csv.ts'

export type Kind = 'assets' | 'locations'

export interface ImportRow {
  line: number
  [field: string]: unknown
}

const shared = ['external_key', 'name', 'description', 'is_active', 'valid_from', 'valid_to']
const tagColumns = ['rfid', 'ble', 'barcode']

export const columnsOf: Record<Kind, readonly string[]> = {
  assets: [...shared, 'metadata', ...tagColumns],
  locations: [...shared, 'parent_external_key', ...tagColumns],
}

/** Columns an export carries that an import has no use for. */
const ignored = new Set([
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

export interface Table {
  columns: string[]
  unknown: string[]
  rows: ImportRow[]
}

const truth: Record<string, boolean> = { true: true, yes: true, '1': true, false: false, no: false, '0': false }

/** As exports write it: one tag per line of the cell, such as `rfid:E280…`. */
function tagsFrom(text: string): { tag_type: string; value: string }[] {
  return text
    .split(/\r?\n/)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const mark = part.indexOf(':')
      const type = part.slice(0, Math.max(mark, 0)).trim()
      return tagColumns.includes(type)
        ? { tag_type: type, value: part.slice(mark + 1) }
        : { tag_type: 'rfid', value: part }
    })
}

function metadataFrom(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/**
 * Exports put an apostrophe before a text that a spreadsheet would run as a formula, before one that starts with an
 * apostrophe, and alone for the empty text. Any other apostrophe belongs to the text.
 */
const unmarked = (text: string): string => (/^'($|[=+\-@\t\r'])/.test(text) ? text.slice(1) : text)

/** One line into what the server takes. A value that makes no sense is passed on as it is: the server names the line. */
function rowFrom(line: number, columns: readonly (string | null)[], cells: readonly string[]): ImportRow {
  const row: ImportRow = { line }
  const tags: { tag_type: string; value: string }[] = []
  columns.forEach((column, at) => {
    if (column === null || (cells[at] ?? '') === '') return
    const text = unmarked(cells[at] ?? '')
    if (tagColumns.includes(column)) tags.push({ tag_type: column, value: text })
    else if (column === 'tags') tags.push(...tagsFrom(text))
    else if (column === 'is_active') row[column] = truth[text.trim().toLowerCase()] ?? text
    else if (column === 'metadata') row[column] = metadataFrom(text)
    else row[column] = text
  })
  if (tags.length > 0) row['tags'] = tags
  return row
}

const workMs = 12
const breath = (): Promise<void> => new Promise((resume) => setTimeout(resume))

/** Reads the file a little at a time, so that the page goes on answering however long the file is. */
export async function readTable(kind: Kind, text: string): Promise<Table> {
  const lines = csvRows(text)
  const first = lines.next()
  const head: string[] = first.done === true ? [] : first.value
  const columns = head.map((one) => one.trim().toLowerCase().replaceAll(' ', '_'))
  const useful = new Set([...columnsOf[kind], 'tags'])
  const wanted = columns.map((one) => (useful.has(one) ? one : null))
  const rows: ImportRow[] = []
  let line = 1
  let since = performance.now()
  for (const cells of lines) {
    line++
    if (cells.some((cell) => cell !== '')) rows.push(rowFrom(line, wanted, cells))
    if (performance.now() - since < workMs) continue
    await breath()
    since = performance.now()
  }
  return { columns, unknown: columns.filter((one) => one !== '' && !useful.has(one) && !ignored.has(one)), rows }
}

const mostBytes = 700_000

/** Batches that fit into one request each. */
export function* batches(rows: readonly ImportRow[]): Generator<ImportRow[]> {
  let batch: ImportRow[] = []
  let bytes = 0
  for (const row of rows) {
    const size = new TextEncoder().encode(JSON.stringify(row)).length + 1
    if (batch.length > 0 && (bytes + size > mostBytes || batch.length >= 2000)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(row)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

export const template = (kind: Kind): string =>
  kind === 'assets'
    ? 'external_key,name,description,is_active,metadata,rfid,barcode\r\nCASE-001,Camera case 1,,true,"{""owner"":""studio""}",E28011700000020A1B2C3D4E,4006381333931\r\n'
    : 'external_key,name,description,parent_external_key,barcode\r\nHALL-A,Hall A,,,\r\nHALL-A-1,Shelf 1,,HALL-A,PLACE-0001\r\n'
