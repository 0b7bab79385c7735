import { once } from 'node:events'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { UsageError } from './errors.ts'
import { type Command, stringOption } from './args.ts'

const names = ['assets', 'locations', 'history', 'moves'] as const

/** Counts the records of a CSV file: line breaks within quotes belong to a record. */
class RecordCounter {
  count = 0
  #isQuoted = false

  add(text: string): void {
    for (const character of text)
      if (character === '"') this.#isQuoted = !this.#isQuoted
      else if (character === '\n' && !this.#isQuoted) this.count++
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

export const exportCommand: Command = {
  name: 'export',
  arguments: '<assets|locations|history|moves>',
  summary: 'write all records as CSV',
  details: 'The file is that of the web app. `lastseen import` accepts the files of assets and locations.',
  options: {
    out: { type: 'string', value: '<file>', summary: 'the file to write; standard output when absent' },
    from: { type: 'string', value: '<time>', summary: 'the start of history and moves' },
    to: { type: 'string', value: '<time>', summary: 'the end of history and moves' },
  },
  async run({ out, client }, [wanted], values) {
    const name = names.find((candidate) => candidate === wanted)
    if (name === undefined) throw new UsageError(`export must be followed by ${names.join(', ')}`)
    const path = stringOption(values, 'out')
    if (out.isJson && path === undefined)
      throw new UsageError('--json requires --out, because export writes CSV to standard output')
    const counter = new RecordCounter()
    const texts = client().bulk.exportCsv(name, { from: stringOption(values, 'from'), to: stringOption(values, 'to') })
    async function* counted(): AsyncGenerator<string> {
      for await (const text of texts) {
        counter.add(text)
        yield text
      }
    }
    await (path === undefined ? writeChunks(counted(), process.stdout) : writeFile(path, counted()))
    // The first line names the columns.
    const rows = counter.count - 1
    if (out.isJson) out.json({ file: path, rows })
    else out.note(`${rows} ${name}${path === undefined ? '' : ` in ${path}`}`)
  },
}
