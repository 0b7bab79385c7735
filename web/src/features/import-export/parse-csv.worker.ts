import { CsvError, CsvReader, HeaderError } from '../../../../server/src/bulk/csv-table.ts'
import type { ImportRow, ParseRequest, ParseResult } from './import-rows.ts'

/** The page shows the first invalid line before anything is sent. */
function parse({ kind, text, mapping }: ParseRequest): ParseResult {
  const rows: ImportRow[] = []
  const reader = new CsvReader(kind, { mapping })
  try {
    for (const part of [reader.push(text), reader.end()])
      for (const row of part) {
        if ('message' in row) throw new CsvError(`line ${row.line}: ${row.message}`)
        rows.push({ line: row.line, ...row.fields })
      }
    return { rows }
  } catch (error) {
    if (error instanceof HeaderError) return { problem: error.message, headers: error.headers }
    if (error instanceof CsvError) return { problem: error.message, headers: null }
    throw error
  }
}

self.onmessage = ({ data }: MessageEvent<ParseRequest>) => self.postMessage(parse(data))
