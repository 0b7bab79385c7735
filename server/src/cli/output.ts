import type { Facts } from '../app/operator.ts'

/** A list of records: printed as a table, or as a JSON array. */
export interface Listing {
  /** The columns of the table, in order; JSON has all fields. */
  columns: readonly string[]
  rows: readonly Facts[]
  /** The text that is printed for an empty list. */
  empty: string
}

/** The result of a command: one record, several new records, or a list. */
export type Report = Facts | Facts[] | Listing

const isListing = (report: Report): report is Listing => 'columns' in report && 'empty' in report

// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]+/g

/** Replaces control characters: names come from tenants and must not control the operator's terminal. */
const printable = (text: string): string => text.replace(controls, ' ')

function formatValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(formatValue).join(', ')
  if (typeof value !== 'object') return typeof value === 'string' ? printable(value) : JSON.stringify(value)
  return Object.entries(value)
    .map(([key, one]) => `${key} ${formatValue(one)}`)
    .join(', ')
}

const lengthOf = (text: string): number => Array.from(text).length

function table({ columns, rows, empty }: Listing): string {
  if (rows.length === 0) return empty
  const lines = [
    columns.map((name) => name.toUpperCase().replaceAll('_', ' ')),
    ...rows.map((row) => columns.map((name) => formatValue(row[name]))),
  ]
  const widths = columns.map((_name, index) => Math.max(...lines.map((line) => lengthOf(line[index]!))))
  const padded = (text: string, index: number): string => text + ' '.repeat(widths[index]! - lengthOf(text))
  return lines.map((line) => line.map(padded).join('  ').trimEnd()).join('\n')
}

function blocks(records: readonly Facts[]): string {
  const width = Math.max(...records.flatMap((record) => Object.keys(record).map((key) => key.length)))
  return records
    .map((record) =>
      Object.entries(record)
        .map(([key, value]) => `${key.padEnd(width)}  ${formatValue(value)}`)
        .join('\n'),
    )
    .join('\n\n')
}

/** Renders a report as one JSON document or as aligned text. */
export function render(report: Report, isJson: boolean): string {
  if (isJson) return `${JSON.stringify(isListing(report) ? report.rows : report)}\n`
  return `${isListing(report) ? table(report) : blocks([report].flat())}\n`
}
