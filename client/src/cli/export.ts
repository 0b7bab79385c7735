import { once } from 'node:events'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import type { Page } from '../pages.ts'
import { exportColumns } from '../csv/table.ts'
import { byteOrderMark, csvLine } from './csv.ts'
import type { Output } from './output.ts'
import { Progress } from './progress.ts'
import { type Item, type Kind, recordsApi } from './records.ts'
import { formatTag } from './tags.ts'
import { UsageError } from './errors.ts'
import { type Command, stringOption } from './args.ts'

function cellValue(item: Item, column: string): string | null {
  if (column === 'tags') return item.tags.length === 0 ? null : item.tags.map(formatTag).join('\n')
  const value = (item as unknown as Record<string, unknown>)[column]
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Yields the CSV file in chunks, one per page. */
async function* csvChunks(kind: Kind, pages: AsyncIterable<Page<Item>>, progress: Progress): AsyncGenerator<string> {
  const columns = exportColumns[kind]
  yield byteOrderMark + csvLine(columns)
  for await (const page of pages) {
    progress.total = page.total_count
    yield page.data.map((item) => csvLine(columns.map((column) => cellValue(item, column)))).join('')
    progress.advance(page.data.length)
  }
}

async function writeChunks(chunks: AsyncIterable<string>, stream: NodeJS.WritableStream): Promise<void> {
  for await (const chunk of chunks) if (!stream.write(chunk)) await once(stream, 'drain')
}

/** Writes to a temporary file and renames it at the end, so that a failed export leaves no partial file. */
async function writeFile(path: string, chunks: AsyncIterable<string>): Promise<void> {
  const temporary = `${path}.part`
  const stream = createWriteStream(temporary)
  try {
    await once(stream, 'open')
    await writeChunks(chunks, stream)
    stream.end()
    await once(stream, 'close')
    renameSync(temporary, path)
  } catch (error) {
    stream.destroy()
    rmSync(temporary, { force: true })
    throw error
  }
}

/** No progress is shown when the rows are printed to the terminal. */
const createProgress = (out: Output, isFile: boolean): Progress =>
  new Progress(out.isJson || (!isFile && out.stdout.isTTY === true) ? null : out.stderr, 'Exporting', 0)

export const exportCommand: Command = {
  name: 'export',
  arguments: '<assets|locations>',
  summary: 'write the records that are valid now as CSV',
  details: 'The columns are those of the exports of the web app. `lastseen import` accepts the file.',
  options: { out: { type: 'string', value: '<file>', summary: 'the file to write; standard output when absent' } },
  async run({ out, client }, [kind], values) {
    if (kind !== 'assets' && kind !== 'locations')
      throw new UsageError('export must be followed by assets or locations')
    const path = stringOption(values, 'out')
    if (out.isJson && path === undefined)
      throw new UsageError('--json requires --out, because export writes CSV to standard output')
    const progress = createProgress(out, path !== undefined)
    let rows = 0
    const pages = recordsApi(client(), kind).pages({})
    async function* countRows(): AsyncGenerator<Page<Item>> {
      for await (const page of pages) {
        rows += page.data.length
        yield page
      }
    }
    try {
      const chunks = csvChunks(kind, countRows(), progress)
      await (path === undefined ? writeChunks(chunks, process.stdout) : writeFile(path, chunks))
    } finally {
      progress.end()
    }
    if (out.isJson) out.json({ file: path, rows })
    else out.note(`${rows} ${kind}${path === undefined ? '' : ` in ${path}`}`)
  },
}
