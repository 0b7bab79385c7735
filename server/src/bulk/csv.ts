import Papa from 'papaparse'

/** The characters that start a formula in spreadsheets, and the apostrophe itself. */
const isRisky = /^[=+\-@\t\r']/

/**
 * Escapes a value with a leading apostrophe if a spreadsheet would run it as a formula, or if it starts with an apostrophe.
 * An empty text becomes a single apostrophe, null an empty cell. So removing the apostrophe restores the exact value.
 */
const escapeFormula = (value: string | null): string | null =>
  value !== null && (value === '' || isRisky.test(value)) ? `'${value}` : value

/** Cells with leading or trailing blanks are quoted, because some programs would trim them. */
const quotes = (cell: unknown): boolean => /^\s|\s$/.test(String(cell))

export const csvLine = (values: readonly (string | null)[]): string =>
  `${Papa.unparse([values.map(escapeFormula)], { quotes })}\r\n`

/** Makes spreadsheets read the file as UTF-8. */
export const byteOrderMark = '\uFEFF'
