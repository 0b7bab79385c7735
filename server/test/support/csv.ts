/** Parses CSV as specified by RFC 4180 and the manual. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  let cell = ''
  let isQuoted = false
  const whole = text.replace(/^\uFEFF/, '')
  for (let at = 0; at < whole.length; at++) {
    const sign = whole[at]!
    if (isQuoted) {
      if (sign !== '"') cell += sign
      else if (whole[at + 1] === '"') cell += whole[++at]!
      else isQuoted = false
    } else if (sign === '"') isQuoted = true
    else if (sign === ',' || (sign === '\r' && whole[at + 1] === '\n')) {
      rows.at(-1)!.push(cell)
      cell = ''
      if (sign === '\r' && ++at) rows.push([])
    } else cell += sign
  }
  if (rows.pop()!.length > 0 || cell !== '' || isQuoted) throw new Error('the file does not end with a whole line')
  return rows
}

/** The value of a cell as the manual defines it: empty is null, and an apostrophe before a formula is removed. */
export function valueOf(cell: string): string | null {
  if (cell === '') return null
  return cell === "'" || /^'[=+\-@\t\r']/.test(cell) ? cell.slice(1) : cell
}

export function parseRecords(text: string): Record<string, string | null>[] {
  const [head = [], ...rows] = parseCsv(text)
  return rows.map((row) => Object.fromEntries(head.map((name, at) => [name, valueOf(row[at] ?? '')])))
}
