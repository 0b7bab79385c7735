import { type Kind, type LineProblem, readTable } from '../csv/table.ts'
import { applyMergePatch } from '../merge-patch.ts'
import type { Asset, TagAttach } from '../types.ts'
import type { Item } from './records.ts'

/** One line of the file: the record it names, and what it says about it. What it does not mention stays. */
export interface ImportRow {
  line: number
  key: string
  fields: Record<string, unknown>
  tags: TagAttach[]
}

export interface ImportTable {
  kind: Kind
  rows: ImportRow[]
  problems: LineProblem[]
}

/** A line that names nothing, or something that an earlier line named, is a problem of its own. */
export function readRows(text: string, asked: Kind | undefined): ImportTable {
  const { kind, rows, problems } = readTable(text, asked)
  const table: ImportTable = { kind, rows: [], problems: [...problems] }
  const lineOf = new Map<string, number>()
  for (const { line, fields: all } of rows) {
    const { external_key: key = '', tags = [], ...fields } = all as { external_key?: string; tags?: TagAttach[] }
    const earlier = lineOf.get(key)
    const complain = (message: string): unknown => table.problems.push({ line, field: 'external_key', message })
    if (key === '') complain('external_key is missing')
    else if (earlier !== undefined) complain(`'${key}' stands in line ${earlier} already`)
    else table.rows.push({ line, key, fields, tags })
    if (key !== '') lineOf.set(key, earlier ?? line)
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
