import { once } from 'node:events'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import type { Page } from '../pages.ts'
import { exportColumns } from '../csv/table.ts'
import { byteOrderMark, csvLine } from './csv.ts'
import type { Output } from './output.ts'
import { Progress } from './progress.ts'
import { type Item, type Kind, recordsOf } from './records.ts'
import { tagText } from './tags.ts'
import { UsageError } from './problems.ts'
import { type Command, textOf } from './usage.ts'

function valueIn(item: Item, column: string): string | null {
  if (column === 'tags') return item.tags.length === 0 ? null : item.tags.map(tagText).join('\n')
  const value = (item as unknown as Record<string, unknown>)[column]
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The file, page by page. */
async function* chunksOf(kind: Kind, pages: AsyncIterable<Page<Item>>, progress: Progress): AsyncGenerator<string> {
  const columns = exportColumns[kind]
  yield byteOrderMark + csvLine(columns)
  for await (const page of pages) {
    progress.total = page.total_count
    yield page.data.map((item) => csvLine(columns.map((column) => valueIn(item, column)))).join('')
    progress.advance(page.data.length)
  }
}

async function pour(chunks: AsyncIterable<string>, stream: NodeJS.WritableStream): Promise<void> {
  for await (const chunk of chunks) if (!stream.write(chunk)) await once(stream, 'drain')
}

/** Written beside its place and put there when it is whole. */
async function pourInto(path: string, chunks: AsyncIterable<string>): Promise<void> {
  const part = `${path}.part`
  const stream = createWriteStream(part)
  try {
    await once(stream, 'open')
    await pour(chunks, stream)
    stream.end()
    await once(stream, 'close')
    renameSync(part, path)
  } catch (error) {
    stream.destroy()
    rmSync(part, { force: true })
    throw error
  }
}

/** A bar beside rows that go to the same terminal would only disturb. */
const progressOf = (out: Output, isFile: boolean): Progress =>
  new Progress(out.isJson || (!isFile && out.stdout.isTTY === true) ? null : out.stderr, 'Exporting', 0)

export const exportCommand: Command = {
  words: 'export',
  takes: '<assets|locations>',
  about: 'write what is valid now as CSV',
  more: 'The columns are those of the exports of the web app; `lastseen import` takes the file back.',
  options: { out: { type: 'string', value: '<file>', about: 'where to; standard output when absent' } },
  async run({ out, client }, [kind], values) {
    if (kind !== 'assets' && kind !== 'locations') throw new UsageError('export takes assets or locations')
    const path = textOf(values, 'out')
    if (out.isJson && path === undefined) throw new UsageError('export writes CSV: --json needs --out')
    const progress = progressOf(out, path !== undefined)
    let rows = 0
    const pages = recordsOf(client(), kind).pages({})
    async function* counted(): AsyncGenerator<Page<Item>> {
      for await (const page of pages) {
        rows += page.data.length
        yield page
      }
    }
    try {
      const chunks = chunksOf(kind, counted(), progress)
      await (path === undefined ? pour(chunks, process.stdout) : pourInto(path, chunks))
    } finally {
      progress.end()
    }
    if (out.isJson) out.json({ file: path, rows })
    else out.note(`${rows} ${kind}${path === undefined ? '' : ` in ${path}`}`)
  },
}
