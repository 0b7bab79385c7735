import { readFileSync } from 'node:fs'
import { BadRequestError } from '../errors.ts'
import { type Bulk, type BulkFile, BulkJobError, type ImportOptions } from '../resources/bulk.ts'
import type { BulkErrorRow, BulkJob } from '../types.ts'
import { Progress } from './progress.ts'
import type { Kind } from './records.ts'
import { CommandError, UsageError } from './errors.ts'
import { type Command, stringOption } from './args.ts'

function readContent(file: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(readFileSync(file === '-' ? 0 : file))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`${file} cannot be read (${code ?? String(error)})`)
  }
}

function formatOf(file: string): BulkFile['format'] {
  if (/\.(ndjson|jsonl)$/i.test(file)) return 'ndjson'
  return /\.json$/i.test(file) ? 'json' : 'csv'
}

/** The part of a file that names the columns, or its first row. */
const startBytes = 4096

/** Only locations have parents. */
function detectKind(content: Uint8Array): Kind {
  const [start = ''] = new TextDecoder().decode(content.subarray(0, startBytes)).split('\n')
  return /parent[_ ]external[_ ]key/i.test(start) ? 'locations' : 'assets'
}

function choice<Value extends string>(name: string, text: string | undefined, values: readonly Value[]) {
  const value = values.find((candidate) => candidate === text)
  if (text !== undefined && value === undefined) throw new UsageError(`--${name} must be ${values.join(' or ')}`)
  return value
}

/** Runs the job and returns it; a failed job has changed nothing. */
async function runJob(bulk: Bulk, kind: Kind, file: BulkFile, options: ImportOptions): Promise<BulkJob> {
  try {
    return await (kind === 'assets' ? bulk.importAssets(file, options) : bulk.importLocations(file, options))
  } catch (error) {
    if (error instanceof BulkJobError) return error.job
    throw error
  }
}

const formatError = ({ line, field, message }: BulkErrorRow): string =>
  `line ${line}: ${field === '' ? '' : `${field}: `}${message}`

export const importCommand: Command = {
  name: 'import',
  arguments: '<file>',
  summary: 'create and update records from a CSV, NDJSON or JSON file, by external_key',
  details: [
    'The first line of a CSV file names the columns: the fields of the API, rfid, ble and barcode with one tag each, and',
    'metadata.<member> for single members. Cells are separated by commas, semicolons or tabs. An empty cell leaves its',
    'field unchanged. Tags are attached and never detached. The file name - reads CSV from standard input.',
  ].join(' '),
  options: {
    kind: {
      type: 'string',
      value: 'assets|locations',
      summary: 'the kind of the records; detected from the columns when absent',
    },
    mode: { type: 'string', value: 'create|update|upsert', summary: 'what lines may do; upsert when absent' },
    'on-error': {
      type: 'string',
      value: 'skip|abort',
      summary: 'import the other lines, or nothing; skip when absent',
    },
    'dry-run': { type: 'boolean', summary: 'report what would be done and change nothing' },
  },
  async run({ out, client }, [path = ''], values) {
    const mode = choice('mode', stringOption(values, 'mode'), ['create', 'update', 'upsert'])
    const onError = choice('on-error', stringOption(values, 'on-error'), ['skip', 'abort']) ?? 'skip'
    const content = readContent(path)
    const kind = choice('kind', stringOption(values, 'kind'), ['assets', 'locations']) ?? detectKind(content)
    const dryRun = values['dry-run'] === true
    const progress = new Progress(!out.isJson && out.stderr.isTTY ? out.stderr : null, 'Importing')
    const onProgress = ({ rows, done_rows: done }: BulkJob): void => progress.show(done, rows)
    const { bulk } = client()
    let job: BulkJob
    try {
      const options = { dryRun, onError, onProgress, ...(mode === undefined ? {} : { mode }) }
      job = await runJob(bulk, kind, { format: formatOf(path), content }, options)
    } catch (error) {
      throw error instanceof BadRequestError ? new UsageError(`${path}: ${error.message}`) : error
    } finally {
      progress.end()
    }
    const errors: BulkErrorRow[] = []
    if (job.errors_total > 0) for await (const error of bulk.errors(job.id)) errors.push(error)
    const { created, updated, unchanged, failed, rows, state } = job
    if (out.isJson) out.json({ kind, dry_run: dryRun, state, created, updated, unchanged, failed, errors })
    else {
      // An error of the whole job has the line 0 and is its reason.
      for (const error of errors) if (error.line > 0) out.note(formatError(error))
      const prefix = dryRun ? 'Dry run: ' : ''
      out.note(`${prefix}${created} created, ${updated} updated, ${unchanged} unchanged, ${failed} with errors`)
    }
    if (job.reason !== null) throw new CommandError(job.reason)
    if (failed > 0) throw new CommandError(`${failed} of ${rows} lines have errors`)
  },
}
