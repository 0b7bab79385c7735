import { readFileSync } from 'node:fs'
import { ConflictError, ForbiddenError, LastseenError, UnauthorizedError, ValidationError } from '../errors.ts'
import { CsvError, type LineProblem } from '../csv/table.ts'
import { mergePatch } from '../merge-patch.ts'
import { Progress } from './progress.ts'
import { type Item, type Kind, type Records, recordsApi } from './records.ts'
import { type ImportRow, type ImportTable, applyFields, readImportTable } from './import-rows.ts'
import { missingTags } from './tags.ts'
import { CommandError, UsageError } from './errors.ts'
import { type Command, integerOption, stringOption } from './args.ts'

interface ImportCounts {
  creates: number
  updates: number
  unchanged: number
}

type Outcome = keyof ImportCounts

/** Some proxies reject longer URLs. */
const maxQueryLength = 6000
const maxKeysPerRequest = 200

/** Splits the keys into batches that fit into one request each. */
function* batchKeys(keys: readonly string[]): Generator<string[]> {
  let [batch, length]: [string[], number] = [[], 0]
  for (const key of keys) {
    const size = encodeURIComponent(key).length + 'external_key=&'.length
    if (batch.length === maxKeysPerRequest || (batch.length > 0 && length + size > maxQueryLength)) {
      yield batch
      ;[batch, length] = [[], 0]
    }
    batch.push(key)
    length += size
  }
  if (batch.length > 0) yield batch
}

async function findExisting(records: Records, rows: readonly ImportRow[]): Promise<Map<string, Item>> {
  const found = new Map<string, Item>()
  for (const external_key of batchKeys(rows.map(({ key }) => key)))
    for (const item of (await records.list({ external_key, limit: maxKeysPerRequest })).data)
      found.set(item.external_key, item)
  return found
}

/** Yields the rows level by level, parents first. Rows in a cycle come last, and the server rejects them. */
function* topologicalLevels(rows: readonly ImportRow[]): Generator<ImportRow[]> {
  let remaining = [...rows]
  while (remaining.length > 0) {
    const keys = new Set(remaining.map(({ key }) => key))
    const isReady = ({ fields }: ImportRow): boolean => !keys.has(String(fields['parent_external_key']))
    const level = remaining.filter(isReady)
    yield level.length === 0 ? remaining : level
    remaining = level.length === 0 ? [] : remaining.filter((row) => !isReady(row))
  }
}

/** Processes `concurrency` items at a time. After a failure it starts no more items and throws when all have settled. */
async function forEachConcurrently<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items].reverse()
  const worker = async (): Promise<void> => {
    for (let item = queue.pop(); item !== undefined; item = queue.pop()) await work(item)
  }
  const workers = Array.from({ length: concurrency }, () =>
    worker().catch((error: unknown) => {
      queue.length = 0
      throw error
    }),
  )
  for (const result of await Promise.allSettled(workers)) if (result.status === 'rejected') throw result.reason as Error
}

/** Imports the rows of a file through the API. */
class Import {
  readonly problems: LineProblem[]
  readonly counts: ImportCounts = { creates: 0, updates: 0, unchanged: 0 }
  readonly #records: Records
  readonly #table: ImportTable
  readonly #isDryRun: boolean

  constructor(records: Records, table: ImportTable, isDryRun: boolean) {
    this.#records = records
    this.#table = table
    this.#isDryRun = isDryRun
    this.problems = [...table.problems]
  }

  async run(concurrency: number, progress: Progress): Promise<void> {
    const found = await findExisting(this.#records, this.#table.rows)
    for (const rows of topologicalLevels(this.#table.rows))
      await forEachConcurrently(rows, concurrency, async (row) => {
        const outcome = await this.#importRow(row, found.get(row.key))
        if (outcome !== null) this.counts[outcome]++
        progress.advance()
      })
  }

  /** An error that concerns one row is recorded with its line. An error that concerns all rows is thrown. */
  async #importRow(row: ImportRow, item: Item | undefined): Promise<Outcome | null> {
    try {
      return await (item === undefined ? this.#create(row) : this.#update(row, item))
    } catch (error) {
      const isForAllRows = error instanceof UnauthorizedError || error instanceof ForbiddenError
      if (!(error instanceof LastseenError) || isForAllRows || error.status === 429 || error.status >= 500) throw error
      this.#recordError(row, error)
      return null
    }
  }

  #recordError({ line }: ImportRow, error: LastseenError): void {
    const add = (field: string, message: string): unknown => this.problems.push({ line, field, message })
    if (!(error instanceof ValidationError)) add('', error.message)
    else for (const { field, code, message } of error.fields) add(field, `${message} (${code})`)
  }

  async #create(row: ImportRow): Promise<Outcome> {
    if (this.#isDryRun) return 'creates'
    const { key, fields, tags } = row
    try {
      await this.#records.create({ external_key: key, ...fields, ...(tags.length > 0 ? { tags } : {}) })
      return 'creates'
    } catch (error) {
      // Lists contain only records that are valid now, but the other records have keys too.
      const hidden = error instanceof ConflictError ? await this.#records.findByKey(key) : null
      if (hidden === null) throw error
      return this.#update(row, hidden)
    }
  }

  async #update({ fields, tags }: ImportRow, item: Item): Promise<Outcome> {
    const draft = structuredClone(item)
    applyFields(draft, fields)
    const isChanged = Object.keys(mergePatch(item, draft)).length > 0
    const newTags = missingTags(tags, item.tags)
    if (!isChanged && newTags.length === 0) return 'unchanged'
    if (!this.#isDryRun) {
      if (isChanged) await this.#records.update(item, (current) => applyFields(current, fields))
      for (const tag of newTags) await this.#records.attachTag(item.id, tag)
    }
    return 'updates'
  }
}

function readFile(file: string, expectedKind: Kind | undefined): ImportTable {
  try {
    return readImportTable(readFileSync(file === '-' ? 0 : file, 'utf8'), expectedKind)
  } catch (error) {
    if (error instanceof CsvError) throw new UsageError(`${file}: ${error.message}`)
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`${file} cannot be read (${code ?? String(error)})`)
  }
}

const formatProblem = ({ line, field, message }: LineProblem): string =>
  `line ${line}: ${field === '' ? '' : `${field}: `}${message}`

export const importCommand: Command = {
  name: 'import',
  arguments: '<file.csv>',
  summary: 'create and update records from a CSV file, by external_key',
  details: [
    'The first line names the columns: the fields of the API, rfid, ble and barcode with one tag each, and',
    'metadata.<member> for single members. Cells are separated by commas, semicolons or tabs. An empty cell leaves its',
    'field unchanged. Tags are attached and never detached. The file name - reads standard input.',
  ].join(' '),
  options: {
    kind: {
      type: 'string',
      value: 'assets|locations',
      summary: 'the kind of the records; detected from the columns when absent',
    },
    'dry-run': { type: 'boolean', summary: 'report what would be done and change nothing' },
    concurrency: { type: 'string', value: '<count>', summary: 'concurrent requests; 4 when absent' },
  },
  async run({ out, client }, [file], values) {
    const expectedKind = stringOption(values, 'kind')
    if (expectedKind !== undefined && expectedKind !== 'assets' && expectedKind !== 'locations')
      throw new UsageError('--kind must be assets or locations')
    const concurrency = integerOption(values, 'concurrency', 1, 16) ?? 4
    const isDryRun = values['dry-run'] === true
    const table = readFile(file!, expectedKind)
    const importer = new Import(recordsApi(client(), table.kind), table, isDryRun)
    const progress = new Progress(out.isJson ? null : out.stderr, 'Importing', table.rows.length)
    let failure: unknown = null
    await importer.run(concurrency, progress).catch((error: unknown) => {
      failure = error
    })
    progress.end()
    const { counts } = importer
    const problems = importer.problems.sort((a, b) => a.line - b.line)
    const failed = new Set(problems.map(({ line }) => line)).size
    if (out.isJson) out.json({ kind: table.kind, dry_run: isDryRun, ...counts, failed, errors: problems })
    else {
      for (const problem of problems) out.note(formatProblem(problem))
      const prefix = isDryRun ? 'Dry run: ' : ''
      out.note(
        `${prefix}${counts.creates} created, ${counts.updates} updated, ${counts.unchanged} unchanged, ${failed} with errors`,
      )
    }
    if (failure !== null) throw failure as Error
    if (failed > 0)
      throw new CommandError(
        `${failed} of ${failed + counts.creates + counts.updates + counts.unchanged} lines have errors`,
      )
  },
}
