import { CsvError, type Kind, readTable } from '../../../../client/src/csv/table.ts'
import type { Reading } from './import-rows.ts'

const read = ({ kind, text }: { kind: Kind; text: string }): Reading => {
  try {
    return { table: readTable(text, kind) }
  } catch (error) {
    if (error instanceof CsvError) return { problem: error.message }
    throw error
  }
}

self.onmessage = ({ data }: MessageEvent<{ kind: Kind; text: string }>) => self.postMessage(read(data))
