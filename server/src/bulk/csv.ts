/** What spreadsheets take for the beginning of a formula, and the mark itself. */
const isRisky = /^[=+\-@\t\r']/

/** Needs quotes by RFC 4180, or loses its blanks in some readers without them. */
const needsQuotes = /[",\r\n]|^\s|\s$/

/**
 * One cell. An apostrophe stands before a text that a spreadsheet would run as a formula, before one that starts with an
 * apostrophe, and alone for the empty text; so taking it off again gives back exactly what there was. No value is an
 * empty cell.
 */
function cellOf(value: string | null): string {
  if (value === null) return ''
  const marked = value === '' || isRisky.test(value) ? `'${value}` : value
  return needsQuotes.test(marked) ? `"${marked.replaceAll('"', '""')}"` : marked
}

export const csvLine = (values: readonly (string | null)[]): string => `${values.map(cellOf).join(',')}\r\n`

/** Tells spreadsheets that the file is UTF-8. */
export const byteOrderMark = '\uFEFF'
