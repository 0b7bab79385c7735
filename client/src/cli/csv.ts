/** CSV as RFC 4180 has it, in the form of the server's own exports. */
export class CsvError extends Error {}

/** A line of the file, which may be several lines of text, and the number of the first. */
export interface CsvLine {
  line: number
  cells: string[]
}

/** Reads commas, quotes doubled inside quotes, CRLF or LF. Lines that hold nothing are left out. */
export function parseCsv(source: string): CsvLine[] {
  const text = source.replace(/^\uFEFF/, '')
  const lines: CsvLine[] = []
  let cells: string[] = []
  let cell = ''
  let [line, startedAt] = [1, 1]
  let isQuoted = false
  const endCell = (): void => {
    cells.push(cell)
    cell = ''
  }
  const endLine = (): void => {
    endCell()
    if (cells.length > 1 || cells[0] !== '') lines.push({ line: startedAt, cells })
    cells = []
    startedAt = line
  }
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (char === '\n') line++
    if (isQuoted) {
      if (char !== '"') cell += char
      else if (text[at + 1] === '"') cell += text[++at]!
      else isQuoted = false
    } else if (char === '"' && cell === '') isQuoted = true
    else if (char === ',') endCell()
    else if (char === '\n') endLine()
    else if (char === '\r' && text[at + 1] === '\n') continue
    else cell += char
  }
  if (isQuoted) throw new CsvError(`line ${startedAt}: a quote is never closed`)
  if (cell !== '' || cells.length > 0) endLine()
  return lines
}

/** No value is an empty cell; an apostrophe before a text that a spreadsheet would run is taken off again. */
export function valueOf(cell: string): string | null {
  if (cell === '') return null
  return cell === "'" || /^'[=+\-@\t\r']/.test(cell) ? cell.slice(1) : cell
}

function cellOf(value: string | null): string {
  if (value === null) return ''
  const marked = value === '' || /^[=+\-@\t\r']/.test(value) ? `'${value}` : value
  return /[",\r\n]|^\s|\s$/.test(marked) ? `"${marked.replaceAll('"', '""')}"` : marked
}

export const csvLine = (values: readonly (string | null)[]): string => `${values.map(cellOf).join(',')}\r\n`

/** Tells spreadsheets that the file is UTF-8. */
export const byteOrderMark = '\uFEFF'
