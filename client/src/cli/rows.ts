import { applyMergePatch } from '../merge-patch.ts'
import type { Asset, TagAttach } from '../types.ts'
import { CsvError, parseCsv, valueOf } from './csv.ts'
import { columnsOf } from './export.ts'
import type { Item, Kind } from './records.ts'
import { tagsFromCell } from './tags.ts'

/** What is wrong with a line of the file. */
export interface LineProblem {
  line: number
  field: string
  message: string
}

/** One line of the file: the record it names, and what it says about it. What it does not mention stays. */
export interface ImportRow {
  line: number
  key: string
  fields: Record<string, unknown>
  tags: TagAttach[]
}

export interface Table {
  kind: Kind
  rows: ImportRow[]
  problems: LineProblem[]
}

/** Columns that files may carry and nobody can set. */
const ignored = new Set(['id', 'created_at', 'updated_at', 'deleted_at', 'parent_id'])
const truth: Record<string, boolean> = { true: true, yes: true, '1': true, false: false, no: false, '0': false }

function metadataFrom(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** Checks the head and says what the file holds. */
function kindOf(head: readonly string[], asked: Kind | undefined): Kind {
  const kind = asked ?? (head.includes('parent_external_key') ? 'locations' : 'assets')
  const isKnown = (name: string): boolean =>
    columnsOf[kind].includes(name) || ignored.has(name) || (kind === 'assets' && /^metadata\../.test(name))
  const unknown = head.filter((name) => !isKnown(name))
  if (unknown.length > 0) throw new CsvError(`${kind} have no column ${unknown.map((one) => `'${one}'`).join(', ')}`)
  if (!head.includes('external_key')) throw new CsvError('the column external_key is missing')
  const twice = head.find((name, at) => head.indexOf(name) !== at)
  if (twice !== undefined) throw new CsvError(`the column ${twice} is there twice`)
  return kind
}

/** A value that makes no sense is passed on as it is: the server says what is wrong with it. */
function rowFrom(line: number, head: readonly string[], cells: readonly string[]): ImportRow {
  const row: ImportRow = { line, key: '', fields: {}, tags: [] }
  const members: [string, string][] = []
  head.forEach((column, at) => {
    const text = valueOf(cells[at] ?? '')
    if (text === null || ignored.has(column)) return
    if (column === 'external_key') row.key = text
    else if (column === 'tags') row.tags = tagsFromCell(text)
    else if (column === 'is_active') row.fields[column] = truth[text.trim().toLowerCase()] ?? text
    else if (column === 'metadata') row.fields[column] = metadataFrom(text)
    else if (column.startsWith('metadata.')) members.push([column.slice('metadata.'.length), text])
    else row.fields[column] = text
  })
  if (members.length > 0)
    row.fields['metadata'] = applyMergePatch(row.fields['metadata'] ?? {}, Object.fromEntries(members))
  return row
}

/** The whole file. A line that names nothing, or something that an earlier line named, is a problem of its own. */
export function readTable(text: string, asked: Kind | undefined): Table {
  const [first, ...lines] = parseCsv(text)
  if (first === undefined) throw new CsvError('the file is empty')
  const head = first.cells.map((name) => name.trim())
  const table: Table = { kind: kindOf(head, asked), rows: [], problems: [] }
  const lineOf = new Map<string, number>()
  for (const { line, cells } of lines) {
    const row = rowFrom(line, head, cells)
    const earlier = lineOf.get(row.key)
    const complain = (field: string, message: string): unknown => table.problems.push({ line, field, message })
    if (cells.length > head.length) complain('', `there are ${cells.length} cells under ${head.length} columns`)
    else if (row.key === '') complain('external_key', 'external_key is missing')
    else if (earlier !== undefined) complain('external_key', `'${row.key}' stands in line ${earlier} already`)
    else table.rows.push(row)
    if (row.key !== '') lineOf.set(row.key, earlier ?? line)
  }
  return table
}

const isSameInstant = (left: unknown, right: unknown): boolean =>
  typeof left === 'string' && typeof right === 'string' && Date.parse(left) === Date.parse(right)

/** Makes a draft of what is there into what the line says. */
export function apply(draft: Item, fields: ImportRow['fields']): void {
  const target = draft as unknown as Record<string, unknown>
  for (const [name, value] of Object.entries(fields))
    if (name === 'metadata') target[name] = applyMergePatch((draft as Asset).metadata, value)
    else if (!isSameInstant(target[name], value) || !name.startsWith('valid_')) target[name] = value
}
