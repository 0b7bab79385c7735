import { CsvError, CsvReader, HeaderError } from '../../../../server/src/bulk/csv-table.ts'
import type { ImportRow, ParseRequest, ParseResult } from './import-rows.ts'

/** A line that cannot be read becomes a row with its error, which the check reports like every other error. */
function parse({ kind, text, mapping }: ParseRequest): ParseResult {
  const rows: ImportRow[] = []
  const reader = new CsvReader(kind, { mapping })
  try {
    for (const part of [reader.push(text), reader.end()])
      for (const row of part) {
        if ('message' in row) rows.push({ line: row.line, error: { field: row.field, message: row.message } })
        else rows.push({ line: row.line, ...row.fields })
      }
    return { rows }
  } catch (error) {
    if (error instanceof HeaderError) return { problem: error.message, headers: error.headers }
    if (error instanceof CsvError) return { problem: error.message, headers: null }
    throw error
  }
}

self.onmessage = ({ data }: MessageEvent<ParseRequest>) => self.postMessage(parse(data))
