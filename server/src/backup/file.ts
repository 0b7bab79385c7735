import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'

/**
 * A backup is a compressed file of JSON lines: this head, then for each table a line that names it, its rows in blocks
 * (a line with their number and size, then the rows as COPY takes them), and a line with their number and checksum.
 * The last line says that nothing is missing.
 */
export interface Head {
  lastseen_backup: 1
  program: string
  taken_at: string
  migrations: [name: string, checksum: string][]
  /** The first and the last instant that the months of history cover, in milliseconds. */
  months: [from: number, to: number] | null
}

export interface TableHead {
  table: string
  columns: string[]
}

export interface Block {
  rows: number
  bytes: number
}

export interface TableEnd {
  rows: number
  sha256: string
}

export interface End {
  end: true
  tables: number
  rows: number
}

export const line = (value: Head | TableHead | Block | TableEnd | End): Buffer =>
  Buffer.from(`${JSON.stringify(value)}\n`)

/** Counts and sums up what goes by. */
export class Tally {
  rows = 0
  readonly #hash = createHash('sha256')

  add(block: Buffer, rows: number): void {
    this.rows += rows
    this.#hash.update(block)
  }

  end(): TableEnd {
    return { rows: this.rows, sha256: this.#hash.digest('hex') }
  }
}

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A row as COPY takes it. */
export const copyLine = (values: readonly (string | null)[]): string =>
  `${values
    .map((value) => (value === null ? '\\N' : value.replace(/[\\\n\r\t]/g, (character) => escapes[character]!)))
    .join('\t')}\n`

export class BrokenBackup extends Error {
  constructor(why: string) {
    super(`This is not a whole backup: ${why}`)
  }
}

const newline = 0x0a
const longestLine = 1024 * 1024

/** Reads a backup piece by piece; never holds more than one block of it. */
export class BackupReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(path: string) {
    const file = createReadStream(path)
    const unpacked = createGunzip()
    file.on('error', (error) => unpacked.destroy(error))
    this.#chunks = file.pipe(unpacked)[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  async line(): Promise<unknown> {
    let end = this.#rest.indexOf(newline)
    for (; end === -1; end = this.#rest.indexOf(newline)) {
      if (this.#rest.length > longestLine) throw new BrokenBackup('it is another kind of file')
      await this.#more()
    }
    const text = this.#rest.subarray(0, end).toString()
    this.#rest = this.#rest.subarray(end + 1)
    try {
      return JSON.parse(text)
    } catch {
      throw new BrokenBackup('it is another kind of file')
    }
  }

  async bytes(count: number): Promise<Buffer> {
    const parts: Buffer[] = []
    let missing = count
    while (missing > 0) {
      if (this.#rest.length === 0) await this.#more()
      const part = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(part.length)
      missing -= part.length
      parts.push(part)
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  async #more(): Promise<void> {
    const next = await this.#chunks.next().catch((error: unknown) => {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'Z_BUF_ERROR') throw new BrokenBackup('it ends too early')
      if (code?.startsWith('Z_')) throw new BrokenBackup('it is damaged or another kind of file')
      throw error
    })
    if (next.done) throw new BrokenBackup('it ends too early')
    this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value])
  }
}
