import { type Kind, type LineProblem, readTable } from '../csv/table.ts'
import { applyMergePatch } from '../merge-patch.ts'
import type { Asset, TagAttach } from '../types.ts'
import type { Item } from './records.ts'

/** One record of the file. Fields that it does not contain stay unchanged. */
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

/** Parses the file. A line without a key, or with the key of an earlier line, is reported in `problems`. */
export function readImportTable(text: string, expectedKind: Kind | undefined): ImportTable {
  const { kind, rows, problems } = readTable(text, expectedKind)
  const table: ImportTable = { kind, rows: [], problems: [...problems] }
  const lineByKey = new Map<string, number>()
  for (const { line, fields: all } of rows) {
    const { external_key: key = '', tags = [], ...fields } = all as { external_key?: string; tags?: TagAttach[] }
    const earlier = lineByKey.get(key)
    const report = (message: string): unknown => table.problems.push({ line, field: 'external_key', message })
    if (key === '') report('external_key is missing')
    else if (earlier !== undefined) report(`'${key}' occurs in line ${earlier} already`)
    else table.rows.push({ line, key, fields, tags })
    if (key !== '') lineByKey.set(key, earlier ?? line)
  }
  return table
}

const isSameInstant = (left: unknown, right: unknown): boolean =>
  typeof left === 'string' && typeof right === 'string' && Date.parse(left) === Date.parse(right)

/** Applies the fields of a row to a copy of the existing record. */
export function applyFields(draft: Item, fields: ImportRow['fields']): void {
  const target = draft as unknown as Record<string, unknown>
  for (const [name, value] of Object.entries(fields))
    if (name === 'metadata') target[name] = applyMergePatch((draft as Asset).metadata, value)
    else if (!isSameInstant(target[name], value) || !name.startsWith('valid_')) target[name] = value
}
