import { type Kind, type Table, CsvError } from '../../../../client/src/csv/table.ts'

export type { Kind }
export { importColumns } from '../../../../client/src/csv/table.ts'

export interface ImportRow {
  line: number
  [field: string]: unknown
}

/** What the worker answers: the table, or why the file cannot be read. */
export type Reading = { table: Table } | { problem: string }

/** Reads the file in a worker, so that the page goes on answering however long the file is. */
export async function readRows(kind: Kind, text: string): Promise<ImportRow[]> {
  const worker = new Worker(new URL('./parse-csv.worker.ts', import.meta.url), { type: 'module' })
  try {
    const reading = await new Promise<Reading>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<Reading>) => resolve(data)
      worker.onerror = () => reject(new Error('The file could not be read.'))
      worker.postMessage({ kind, text })
    })
    if ('problem' in reading) throw new CsvError(reading.problem)
    const [bad] = reading.table.problems
    if (bad !== undefined) throw new CsvError(`line ${bad.line}: ${bad.message}`)
    return reading.table.rows.map(({ line, fields }) => ({ line, ...fields }))
  } finally {
    worker.terminate()
  }
}

const mostBytes = 700_000

/** Batches that fit into one request each. */
export function* batches(rows: readonly ImportRow[]): Generator<ImportRow[]> {
  let batch: ImportRow[] = []
  let bytes = 0
  for (const row of rows) {
    const size = new TextEncoder().encode(JSON.stringify(row)).length + 1
    if (batch.length > 0 && (bytes + size > mostBytes || batch.length >= 2000)) {
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
