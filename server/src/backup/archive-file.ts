import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** Writes a gzipped file that only its owner can read. It gets its final name only when it is complete. */
export async function writeArchive(path: string, content: AsyncIterable<string>): Promise<void> {
  const unfinished = `${path}.unfinished`
  try {
    await pipeline(Readable.from(content), createGzip(), createWriteStream(unfinished, { mode: 0o600, flags: 'wx' }))
    await rename(unfinished, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(unfinished, { force: true })
    throw error
  }
}
