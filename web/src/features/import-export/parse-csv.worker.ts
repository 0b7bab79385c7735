import { CsvError, CsvReader, type Kind } from '../../../../server/src/bulk/csv-table.ts'
import type { ImportRow, ParseResult } from './import-rows.ts'

/** The page shows the first invalid line before anything is sent. */
function parse({ kind, text }: { kind: Kind; text: string }): ParseResult {
  const rows: ImportRow[] = []
  const reader = new CsvReader(kind)
  try {
    for (const part of [reader.push(text), reader.end()])
      for (const row of part) {
        if ('message' in row) throw new CsvError(`line ${row.line}: ${row.message}`)
        rows.push({ line: row.line, ...row.fields })
      }
    return { rows }
  } catch (error) {
    if (error instanceof CsvError) return { problem: error.message }
    throw error
  }
}

self.onmessage = ({ data }: MessageEvent<{ kind: Kind; text: string }>) => self.postMessage(parse(data))
