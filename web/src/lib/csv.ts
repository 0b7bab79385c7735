/** CSV as RFC 4180 has it, and as spreadsheets write it: `,`, `;` or tab, quotes doubled inside quotes, CR LF or LF. */
export function* csvRows(source: string): Generator<string[]> {
  const text = source.replace(/^\uFEFF/, '')
  const separator = guessSeparator(text)
  let row: string[] = []
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (isQuoted) {
      if (char !== '"') cell += char
      else if (text[at + 1] === '"') {
        cell += '"'
        at++
      } else isQuoted = false
    } else if (char === '"' && cell === '') isQuoted = true
    else if (char === separator) {
      row.push(cell)
      cell = ''
    } else if (char === '\n' || char === '\r') {
      if (char === '\r' && text[at + 1] === '\n') at++
      row.push(cell)
      yield row
      row = []
      cell = ''
    } else cell += char
  }
  if (cell !== '' || row.length > 0) yield [...row, cell]
}

function guessSeparator(text: string): string {
  const first = text.slice(0, text.search(/[\r\n]|$/))
  const counts = [',', ';', '\t'].map((one) => [one, first.split(one).length] as const)
  return counts.sort((a, b) => b[1] - a[1])[0]![0]
}
