import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'

/**
 * A backup is a gzipped file of JSON lines: this head, then for each table a line with its name, its rows in blocks (a
 * line with the number of rows and bytes, then the rows in the text format of COPY), and a line with the number of rows and
 * their checksum. The last line marks the backup as complete.
 */
export interface Head {
  lastseen_backup: 1
  program: string
  taken_at: string
  migrations: [name: string, checksum: string][]
  /** The first and the last instant that the monthly partitions cover, in milliseconds. */
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

/** Counts the rows of a table and computes their checksum. */
export class TableChecksum {
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

/** A row in the text format of COPY. */
export const copyLine = (values: readonly (string | null)[]): string =>
  `${values
    .map((value) => (value === null ? '\\N' : value.replace(/[\\\n\r\t]/g, (character) => escapes[character]!)))
    .join('\t')}\n`

export class BrokenBackupError extends Error {
  constructor(reason: string) {
    super(`This is not a complete backup: ${reason}`)
  }
}

const newline = 0x0a
const maxLineBytes = 1024 * 1024

/** Reads a backup as a stream, with at most one block in memory. */
export class BackupReader {
  readonly #chunks: AsyncIterator<Buffer>
  #buffered: Buffer = Buffer.alloc(0)

  constructor(path: string) {
    const file = createReadStream(path)
    const unpacked = createGunzip()
    file.on('error', (error) => unpacked.destroy(error))
    this.#chunks = file.pipe(unpacked)[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  async line(): Promise<unknown> {
    let end = this.#buffered.indexOf(newline)
    for (; end === -1; end = this.#buffered.indexOf(newline)) {
      if (this.#buffered.length > maxLineBytes) throw new BrokenBackupError('it is another kind of file')
      await this.#readChunk()
    }
    const text = this.#buffered.subarray(0, end).toString()
    this.#buffered = this.#buffered.subarray(end + 1)
    try {
      return JSON.parse(text)
    } catch {
      throw new BrokenBackupError('it is another kind of file')
    }
  }

  async bytes(count: number): Promise<Buffer> {
    const parts: Buffer[] = []
    let missing = count
    while (missing > 0) {
      if (this.#buffered.length === 0) await this.#readChunk()
      const part = this.#buffered.subarray(0, missing)
      this.#buffered = this.#buffered.subarray(part.length)
      missing -= part.length
      parts.push(part)
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  async #readChunk(): Promise<void> {
    const next = await this.#chunks.next().catch((error: unknown) => {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'Z_BUF_ERROR') throw new BrokenBackupError('it ends too early')
      if (code?.startsWith('Z_')) throw new BrokenBackupError('it is damaged or another kind of file')
      throw error
    })
    if (next.done) throw new BrokenBackupError('it ends too early')
    this.#buffered = this.#buffered.length === 0 ? next.value : Buffer.concat([this.#buffered, next.value])
  }
}
