import { CsvError, type Kind, readTable } from '../../../../client/src/csv/table.ts'
import type { ParseResult } from './import-rows.ts'

const parse = ({ kind, text }: { kind: Kind; text: string }): ParseResult => {
  try {
    return { table: readTable(text, kind) }
  } catch (error) {
    if (error instanceof CsvError) return { problem: error.message }
    throw error
  }
}

self.onmessage = ({ data }: MessageEvent<{ kind: Kind; text: string }>) => self.postMessage(parse(data))
