import type { Facts } from '../app/operator.ts'

/** Things of one kind: a table for people, an array for programs. */
export interface Listing {
  /** The facts that stand in the table, in this order; JSON has all of them. */
  columns: readonly string[]
  rows: readonly Facts[]
  /** What people read when there is none. */
  empty: string
}

/** What a command reports: one thing, several new things, or a list. */
export type Report = Facts | Facts[] | Listing

const isListing = (report: Report): report is Listing => 'columns' in report && 'empty' in report

// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]+/g

/** Names come from tenants; control characters in them must not steer the operator's terminal. */
const printable = (text: string): string => text.replace(controls, ' ')

function plainly(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(plainly).join(', ')
  if (typeof value !== 'object') return typeof value === 'string' ? printable(value) : JSON.stringify(value)
  return Object.entries(value)
    .map(([key, one]) => `${key} ${plainly(one)}`)
    .join(', ')
}

const lengthOf = (text: string): number => Array.from(text).length

function table({ columns, rows, empty }: Listing): string {
  if (rows.length === 0) return empty
  const lines = [
    columns.map((name) => name.toUpperCase().replaceAll('_', ' ')),
    ...rows.map((row) => columns.map((name) => plainly(row[name]))),
  ]
  const widths = columns.map((_name, at) => Math.max(...lines.map((line) => lengthOf(line[at]!))))
  const padded = (text: string, at: number): string => text + ' '.repeat(widths[at]! - lengthOf(text))
  return lines.map((line) => line.map(padded).join('  ').trimEnd()).join('\n')
}

function blocks(things: readonly Facts[]): string {
  const width = Math.max(...things.flatMap((one) => Object.keys(one).map((key) => key.length)))
  return things
    .map((one) =>
      Object.entries(one)
        .map(([key, value]) => `${key.padEnd(width)}  ${plainly(value)}`)
        .join('\n'),
    )
    .join('\n\n')
}

/** One JSON document for programs, or aligned text for people. */
export function render(report: Report, isJson: boolean): string {
  if (isJson) return `${JSON.stringify(isListing(report) ? report.rows : report)}\n`
  return `${isListing(report) ? table(report) : blocks([report].flat())}\n`
}
