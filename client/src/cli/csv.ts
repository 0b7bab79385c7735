import Papa from 'papaparse'

/** An apostrophe precedes texts that a spreadsheet would run as a formula and texts that begin with one; alone, it is ''. */
const escapeFormula = (value: string | null): string | null =>
  value !== null && (value === '' || /^[=+\-@\t\r']/.test(value)) ? `'${value}` : value

/** One line of a CSV file in the format of the server's exports. */
export const csvLine = (values: readonly (string | null)[]): string =>
  `${Papa.unparse([values.map(escapeFormula)], { quotes: (cell) => /^\s|\s$/.test(String(cell)) })}\r\n`

/** Spreadsheets recognize UTF-8 by it. */
export const byteOrderMark = '\uFEFF'
