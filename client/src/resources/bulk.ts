import { type Clock, raceAbort } from '../clock.ts'
import { NetworkError } from '../errors.ts'
import type { CallOptions } from '../operations.ts'
import { checkNames } from '../options.ts'
import { type Page, iteratePages, iterateRows } from '../pages.ts'
import type { Primary } from '../surfaces.ts'
import type { RawBody } from '../transport.ts'
import type {
  BulkAsset,
  BulkAssetRow,
  BulkErrorRow,
  BulkHistoryRow,
  BulkJob,
  BulkLocation,
  BulkLocationRow,
  Move,
  PageQuery,
} from '../types.ts'

/** Rows, or a file: CSV, NDJSON or a JSON array. A file is sent as it is. */
export type BulkSource<Row> = Iterable<Row> | AsyncIterable<Row> | BulkFile

/** The content of a file. */
export interface BulkFile {
  format: 'csv' | 'ndjson' | 'json'
  content: RawBody['content']
}

/** Options of an import. */
export interface ImportOptions extends CallOptions {
  /** Whether rows may create records, update existing ones, or both. Default: `upsert`. */
  mode?: 'create' | 'update' | 'upsert'
  /** Only checks the rows. */
  dryRun?: boolean
  /** Whether a row with an error aborts the job, so that nothing is changed, or is skipped. Default: `abort`. */
  onError?: 'abort' | 'skip'
  /** Identifies the request for 24 hours: the same request with the same key returns the same job. Default: a new one. */
  idempotencyKey?: string
  /** Called with the state of the job whenever it is read. */
  onProgress?: (job: BulkJob) => void
}

/** The period of an export; both ends are inclusive. */
export interface ExportPeriod {
  from?: string | undefined
  to?: string | undefined
}

/** The job failed and has changed nothing. `job.reason` says why, and `bulk.errors(job.id)` yields the errors by line. */
export class BulkJobError extends Error {
  override readonly name = 'BulkJobError'
  readonly job: BulkJob

  constructor(job: BulkJob) {
    super(job.reason ?? 'The job failed')
    this.job = job
  }
}

const mediaTypes: Record<BulkFile['format'], string> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
}

/** The largest body that the server accepts. */
const maxBodyBytes = 64 * 1024 * 1024
/** An upload may take this many times as long as another request: with the default, as long as the server waits for it. */
const uploadTimeoutFactor = 40
/** The first byte of an export may take this many times as long: it waits until the server has a slot for downloads. */
const exportTimeoutFactor = 2

interface RowOf {
  assets: BulkAssetRow
  locations: BulkLocationRow
}

type Kind = keyof RowOf
type ExportName = Kind | 'history' | 'moves'

const importOptions = ['mode', 'dryRun', 'onError', 'idempotencyKey', 'onProgress', 'signal']

/** Reads a body, whose size the server limits, into memory, so that it can be sent again. */
async function toBody<Row>(source: BulkSource<Row>): Promise<RawBody> {
  if (typeof source === 'object' && 'format' in source) {
    const type = mediaTypes[source.format]
    if (type === undefined) throw new TypeError(`format must be one of ${Object.keys(mediaTypes).join(', ')}`)
    return { type, content: source.content }
  }
  const encoder = new TextEncoder()
  const parts: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const row of source) {
    // The name or the content of a file is iterable, too.
    if (typeof row !== 'object' || row === null || ArrayBuffer.isView(row))
      throw new TypeError('Lastseen: rows must be objects; pass a file as { format, content }')
    const line = encoder.encode(`${JSON.stringify(row)}\n`)
    parts.push(line)
    size += line.byteLength
    if (size > maxBodyBytes) throw new RangeError('The rows of one import have 64 MiB at most')
  }
  return { type: mediaTypes.ndjson, content: new Blob(parts) }
}

/** Jobs are read at first often, later once a second, because each read takes a token of the rate limit. */
const pollMs = (reads: number): number => Math.min(1000, 100 * 2 ** reads)

const hasEnded = ({ state }: BulkJob): boolean => state === 'done' || state === 'failed'

/** Imports and exports of many records, each with one request. */
export class Bulk {
  readonly #api: Primary
  readonly #clock: Clock
  readonly #timeoutMs: number

  constructor(api: Primary, clock: Clock, timeoutMs: number) {
    this.#api = api
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  /** Creates and updates assets by `external_key` and waits for the job. Throws a BulkJobError when it fails. */
  importAssets(source: BulkSource<BulkAssetRow>, options: ImportOptions = {}): Promise<BulkJob> {
    return this.#import('assets', source, options)
  }

  /** Creates and updates locations, whose parents may be in the same import, and waits for the job. */
  importLocations(source: BulkSource<BulkLocationRow>, options: ImportOptions = {}): Promise<BulkJob> {
    return this.#import('locations', source, options)
  }

  /** Starts an import and returns its job without waiting for it. */
  async start<Of extends Kind>(kind: Of, source: BulkSource<RowOf[Of]>, options: ImportOptions = {}): Promise<BulkJob> {
    checkNames(options, importOptions)
    const { mode, dryRun, onError, signal, idempotencyKey = crypto.randomUUID() } = options
    const reply = await this.#api.upload(
      `bulk.${kind}.import`,
      { query: { mode, dry_run: dryRun, on_error: onError }, signal },
      {
        raw: await toBody(source),
        headers: { 'Idempotency-Key': idempotencyKey },
        retry: 'repeatable',
        timeoutMs: uploadTimeoutFactor * this.#timeoutMs,
      },
    )
    return (reply as { data: BulkJob }).data
  }

  /** Returns the state of a job. */
  async job(id: number, options: CallOptions = {}): Promise<BulkJob> {
    return (await this.#api.request('bulk.jobs.get', { path: { job_id: id }, ...options })).data
  }

  /** Yields the state of a job until it has ended. */
  async *watch(job: BulkJob | number, options: CallOptions = {}): AsyncGenerator<BulkJob, void, undefined> {
    let current = typeof job === 'number' ? await this.job(job, options) : job
    for (let reads = 0; ; reads++) {
      yield current
      if (hasEnded(current)) return
      await this.#clock.sleep(pollMs(reads), options.signal)
      current = await this.job(current.id, options)
    }
  }

  /** Returns one page of the errors of a job. */
  errorPage(id: number, query: PageQuery = {}, options: CallOptions = {}): Promise<Page<BulkErrorRow>> {
    return this.#api.request('bulk.jobs.errors', { path: { job_id: id }, query, ...options })
  }

  /** Yields the errors of a job by line. */
  errors(id: number, options: CallOptions = {}): AsyncGenerator<BulkErrorRow, void, undefined> {
    return iterateRows(iteratePages({}, (page: PageQuery) => this.errorPage(id, page, options)))
  }

  /** Yields every live asset. All are of one snapshot. Throws a NetworkError when the export is interrupted. */
  exportAssets(options: CallOptions = {}): AsyncGenerator<BulkAsset, void, undefined> {
    return this.#rows('assets', {}, options)
  }

  exportLocations(options: CallOptions = {}): AsyncGenerator<BulkLocation, void, undefined> {
    return this.#rows('locations', {}, options)
  }

  /** Yields one row per recorded minute of every live asset. */
  exportHistory(period: ExportPeriod = {}, options: CallOptions = {}): AsyncGenerator<BulkHistoryRow, void, undefined> {
    return this.#rows('history', period, options)
  }

  /** Yields every move, oldest first. */
  exportMoves(period: ExportPeriod = {}, options: CallOptions = {}): AsyncGenerator<Move, void, undefined> {
    return this.#rows('moves', period, options)
  }

  /** Yields the text of an export as a CSV file, in pieces. */
  exportCsv(
    name: ExportName,
    period: ExportPeriod = {},
    options: CallOptions = {},
  ): AsyncGenerator<string, void, undefined> {
    return this.#texts(name, 'csv', period, options)
  }

  async #import<Of extends Kind>(kind: Of, source: BulkSource<RowOf[Of]>, options: ImportOptions): Promise<BulkJob> {
    let last = await this.start(kind, source, options)
    for await (const job of this.watch(last, { signal: options.signal })) {
      options.onProgress?.(job)
      last = job
    }
    if (last.state === 'failed') throw new BulkJobError(last)
    return last
  }

  async *#rows<Row>(
    name: ExportName,
    period: ExportPeriod,
    options: CallOptions,
  ): AsyncGenerator<Row, void, undefined> {
    let rest = ''
    for await (const text of this.#texts(name, 'ndjson', period, options)) {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) yield JSON.parse(line) as Row
    }
  }

  async *#texts(
    name: ExportName,
    format: 'csv' | 'ndjson',
    period: ExportPeriod,
    options: CallOptions,
  ): AsyncGenerator<string, void, undefined> {
    checkNames(period, ['from', 'to'])
    checkNames(options, ['signal'])
    const { signal } = options
    const response = await this.#api.open(
      `bulk.${name}.export`,
      { query: { ...period, format }, signal },
      { headers: { Accept: '*/*' }, timeoutMs: exportTimeoutFactor * this.#timeoutMs },
    )
    const reader = response.body!.pipeThrough(new TextDecoderStream('utf-8', { ignoreBOM: true })).getReader()
    try {
      for (;;) {
        // As in live.ts, the signal of the request alone is not enough.
        const { done, value } = await raceAbort(reader.read(), signal)
        if (done) return
        yield value
      }
    } catch (error) {
      signal?.throwIfAborted()
      throw new NetworkError('The export was interrupted; what has arrived is incomplete', { cause: error })
    } finally {
      await reader.cancel().catch(() => undefined)
    }
  }
}
