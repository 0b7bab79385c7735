import { readFileSync } from 'node:fs'
import { ConflictError, ForbiddenError, LastseenError, UnauthorizedError, ValidationError } from '../errors.ts'
import { CsvError, type LineProblem } from '../csv/table.ts'
import { mergePatch } from '../merge-patch.ts'
import { Progress } from './progress.ts'
import { type Item, type Kind, type Records, recordsOf } from './records.ts'
import { type ImportRow, type ImportTable, apply, readRows } from './rows.ts'
import { missingTags } from './tags.ts'
import { CommandError, UsageError } from './problems.ts'
import { type Command, countOf, textOf } from './usage.ts'

interface Tally {
  creates: number
  updates: number
  unchanged: number
}

type Outcome = keyof Tally

/** Longer addresses are refused by some servers between here and there. */
const mostQueryLength = 6000

/** Keys in batches that fit into one request each. */
function* batchesOf(keys: readonly string[]): Generator<string[]> {
  let [batch, length]: [string[], number] = [[], 0]
  for (const key of keys) {
    const size = encodeURIComponent(key).length + 'external_key=&'.length
    if (batch.length === 200 || (batch.length > 0 && length + size > mostQueryLength)) {
      yield batch
      ;[batch, length] = [[], 0]
    }
    batch.push(key)
    length += size
  }
  if (batch.length > 0) yield batch
}

async function existing(records: Records, rows: readonly ImportRow[]): Promise<Map<string, Item>> {
  const found = new Map<string, Item>()
  for (const external_key of batchesOf(rows.map(({ key }) => key)))
    for (const item of (await records.list({ external_key, limit: 200 })).data) found.set(item.external_key, item)
  return found
}

/** Parents before what is in them; a circle comes last, and the server says what is wrong with it. */
function* generations(rows: readonly ImportRow[]): Generator<ImportRow[]> {
  let waiting = [...rows]
  while (waiting.length > 0) {
    const keys = new Set(waiting.map(({ key }) => key))
    const isFree = ({ fields }: ImportRow): boolean => !keys.has(String(fields['parent_external_key']))
    const next = waiting.filter(isFree)
    yield next.length === 0 ? waiting : next
    waiting = next.length === 0 ? [] : waiting.filter((row) => !isFree(row))
  }
}

/** Works on so many at a time. After a failure nothing more is begun, and it is thrown when all is still. */
async function inParallel<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items].reverse()
  const worker = async (): Promise<void> => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await work(item)
  }
  const begun = Array.from({ length: width }, () =>
    worker().catch((error: unknown) => {
      waiting.length = 0
      throw error
    }),
  )
  for (const ended of await Promise.allSettled(begun)) if (ended.status === 'rejected') throw ended.reason as Error
}

/** Carries out a file line by line. */
class Import {
  readonly problems: LineProblem[]
  readonly tally: Tally = { creates: 0, updates: 0, unchanged: 0 }
  readonly #records: Records
  readonly #table: ImportTable
  readonly #isDry: boolean

  constructor(records: Records, table: ImportTable, isDry: boolean) {
    this.#records = records
    this.#table = table
    this.#isDry = isDry
    this.problems = [...table.problems]
  }

  async run(width: number, progress: Progress): Promise<void> {
    const found = await existing(this.#records, this.#table.rows)
    for (const rows of generations(this.#table.rows))
      await inParallel(rows, width, async (row) => {
        const outcome = await this.#guarded(row, found.get(row.key))
        if (outcome !== null) this.tally[outcome]++
        progress.advance()
      })
  }

  /** What is wrong with one line is told with its number; what is wrong with all of them ends the work. */
  async #guarded(row: ImportRow, item: Item | undefined): Promise<Outcome | null> {
    try {
      return await (item === undefined ? this.#create(row) : this.#update(row, item))
    } catch (error) {
      const isForAll = error instanceof UnauthorizedError || error instanceof ForbiddenError
      if (!(error instanceof LastseenError) || isForAll || error.status === 429 || error.status >= 500) throw error
      this.#note(row, error)
      return null
    }
  }

  #note({ line }: ImportRow, error: LastseenError): void {
    const problem = (field: string, message: string): unknown => this.problems.push({ line, field, message })
    if (!(error instanceof ValidationError)) problem('', error.message)
    else for (const { field, code, message } of error.fields) problem(field, `${message} (${code})`)
  }

  async #create(row: ImportRow): Promise<Outcome> {
    if (this.#isDry) return 'creates'
    const { key, fields, tags } = row
    try {
      await this.#records.create({ external_key: key, ...fields, ...(tags.length > 0 ? { tags } : {}) })
      return 'creates'
    } catch (error) {
      // Lists show what is valid now; what is not keeps its key nevertheless.
      const hidden = error instanceof ConflictError ? await this.#records.findByKey(key) : null
      if (hidden === null) throw error
      return this.#update(row, hidden)
    }
  }

  async #update({ fields, tags }: ImportRow, item: Item): Promise<Outcome> {
    const draft = structuredClone(item)
    apply(draft, fields)
    const isChanged = Object.keys(mergePatch(item, draft)).length > 0
    const attached = missingTags(tags, item.tags)
    if (!isChanged && attached.length === 0) return 'unchanged'
    if (!this.#isDry) {
      if (isChanged) await this.#records.update(item, (fresh) => apply(fresh, fields))
      for (const tag of attached) await this.#records.attachTag(item.id, tag)
    }
    return 'updates'
  }
}

function read(file: string, asked: Kind | undefined): ImportTable {
  try {
    return readRows(readFileSync(file === '-' ? 0 : file, 'utf8'), asked)
  } catch (error) {
    if (error instanceof CsvError) throw new UsageError(`${file}: ${error.message}`)
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`${file} cannot be read (${code ?? String(error)})`)
  }
}

const place = ({ line, field, message }: LineProblem): string =>
  `line ${line}: ${field === '' ? '' : `${field}: `}${message}`

export const importCommand: Command = {
  words: 'import',
  takes: '<file.csv>',
  about: 'create and update from a CSV file, by external_key',
  more: [
    'The first line names the columns: the fields of the API, rfid, ble and barcode for one tag each, and metadata.<member>',
    'for single members. Cells are separated by commas, semicolons or tabs. An empty cell leaves its field as it is. Tags are',
    'attached and never detached. - reads standard input.',
  ].join('\n'),
  options: {
    kind: { type: 'string', value: 'assets|locations', about: 'told by the columns when absent' },
    'dry-run': { type: 'boolean', about: 'only say what would be done' },
    concurrency: { type: 'string', value: '<count>', about: 'requests at the same time; 4 if absent' },
  },
  async run({ out, client }, [file], values) {
    const asked = textOf(values, 'kind')
    if (asked !== undefined && asked !== 'assets' && asked !== 'locations')
      throw new UsageError('--kind is assets or locations')
    const width = countOf(values, 'concurrency', 1, 16) ?? 4
    const isDry = values['dry-run'] === true
    const table = read(file!, asked)
    const work = new Import(recordsOf(client(), table.kind), table, isDry)
    const progress = new Progress(out.isJson ? null : out.stderr, 'Importing', table.rows.length)
    let failure: unknown = null
    await work.run(width, progress).catch((error: unknown) => {
      failure = error
    })
    progress.end()
    const { tally } = work
    const problems = work.problems.sort((a, b) => a.line - b.line)
    const failed = new Set(problems.map(({ line }) => line)).size
    if (out.isJson) out.json({ kind: table.kind, dry_run: isDry, ...tally, failed, errors: problems })
    else {
      for (const problem of problems) out.note(place(problem))
      const would = isDry ? 'Would be: ' : ''
      out.note(
        `${would}${tally.creates} created, ${tally.updates} updated, ${tally.unchanged} unchanged, ${failed} with errors`,
      )
    }
    if (failure !== null) throw failure as Error
    if (failed > 0)
      throw new CommandError(
        `${failed} of ${failed + tally.creates + tally.updates + tally.unchanged} lines have errors`,
      )
  },
}
