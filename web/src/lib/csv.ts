import { saveBlob } from './download.ts'

/** Like the server's exports: an apostrophe before a text that a spreadsheet would run as a formula. */
const escaped = (value: string | number): string => {
  const text = typeof value === 'string' && /^[=+\-@\t\r']/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Saves the rows of a table as a file. The byte order mark makes spreadsheets read it as UTF-8. */
export function saveCsv(
  name: string,
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const lines = [header, ...rows].map((row) => `${row.map(escaped).join(',')}\r\n`)
  saveBlob(new Blob(['\uFEFF', ...lines], { type: 'text/csv' }), name)
}
