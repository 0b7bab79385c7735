import Papa from 'papaparse'

/** What spreadsheets take for the beginning of a formula, and the mark itself. */
const isRisky = /^[=+\-@\t\r']/

/**
 * An apostrophe stands before a text that a spreadsheet would run as a formula, before one that starts with an
 * apostrophe, and alone for the empty text; so taking it off again gives back exactly what there was. No value is an
 * empty cell.
 */
const mark = (value: string | null): string | null =>
  value !== null && (value === '' || isRisky.test(value)) ? `'${value}` : value

/** Blanks at either end are quoted, because some readers drop them otherwise. */
const quotes = (cell: unknown): boolean => /^\s|\s$/.test(String(cell))

export const csvLine = (values: readonly (string | null)[]): string =>
  `${Papa.unparse([values.map(mark)], { quotes })}\r\n`

/** Tells spreadsheets that the file is UTF-8. */
export const byteOrderMark = '\uFEFF'
