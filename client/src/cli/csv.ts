import Papa from 'papaparse'

/** An apostrophe stands before a text that a spreadsheet would run, before an apostrophe, and alone for the empty text. */
const mark = (value: string | null): string | null =>
  value !== null && (value === '' || /^[=+\-@\t\r']/.test(value)) ? `'${value}` : value

/** One line of a file in the form of the server's own exports. */
export const csvLine = (values: readonly (string | null)[]): string =>
  `${Papa.unparse([values.map(mark)], { quotes: (cell) => /^\s|\s$/.test(String(cell)) })}\r\n`

/** Tells spreadsheets that the file is UTF-8. */
export const byteOrderMark = '\uFEFF'
