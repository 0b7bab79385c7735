import { type ColumnMapping, type Kind, CsvError, HeaderError } from '../../../../server/src/bulk/csv-table.ts'

export type { ColumnMapping, Kind }
export {
  HeaderError,
  decodeFile,
  importColumns,
  isKnownColumn,
  normalizeColumn,
} from '../../../../server/src/bulk/csv-table.ts'

export interface ImportRow {
  line: number
  /** Why the line could not be read; such a row has no other fields. */
  error?: { field: string; message: string }
  [field: string]: unknown
}

/** The worker's result: the rows, or why the file cannot be parsed, with the header row if that is the reason. */
export type ParseResult = { rows: ImportRow[] } | { problem: string; headers: readonly string[] | null }

export interface ParseRequest {
  kind: Kind
  text: string
  mapping: ColumnMapping
}

/** Parses the file in a worker, so that large files do not block the page. */
export async function readRows(request: ParseRequest): Promise<ImportRow[]> {
  const worker = new Worker(new URL('./parse-csv.worker.ts', import.meta.url), { type: 'module' })
  try {
    const result = await new Promise<ParseResult>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<ParseResult>) => resolve(data)
      worker.onerror = () => reject(new Error('The file could not be read.'))
      worker.postMessage(request)
    })
    if ('problem' in result)
      throw result.headers === null ? new CsvError(result.problem) : new HeaderError(result.problem, result.headers)
    return result.rows
  } finally {
    worker.terminate()
  }
}

const maxBatchBytes = 700_000

const maxBatchRows = 2000

/** Splits the rows into batches that each fit into one request. */
export function* batches(rows: readonly ImportRow[]): Generator<ImportRow[]> {
  let batch: ImportRow[] = []
  let bytes = 0
  for (const row of rows) {
    const size = new TextEncoder().encode(JSON.stringify(row)).length + 1
    if (batch.length > 0 && (bytes + size > maxBatchBytes || batch.length >= maxBatchRows)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(row)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

export const template = (kind: Kind): string =>
  kind === 'assets'
    ? 'external_key,name,description,is_active,metadata,rfid,barcode\r\nCASE-001,Camera case 1,,true,"{""owner"":""studio""}",E28011700000020A1B2C3D4E,4006381333931\r\n'
    : 'external_key,name,description,parent_external_key,barcode\r\nHALL-A,Hall A,,,\r\nHALL-A-1,Shelf 1,,HALL-A,LOC-0001\r\n'
