import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { rotateLog } from '../../src/embedded-postgres/postmaster.ts'

it('The log of the embedded database is truncated past 10 MB while the database runs, and one older file is kept', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lastseen-log-'))
  const file = join(folder, 'postgres.log')
  const writer = await open(file, 'a', 0o600)
  try {
    await writer.write('x'.repeat(10 * 1024 * 1024))
    expect(await rotateLog(file)).toBe(10 * 1024 * 1024)
    await writer.write('one byte too many\n')
    expect(await rotateLog(file)).toBe(0)
    await writer.write('the next line\n')
    expect(await readFile(file, 'utf8')).toBe('the next line\n')
    const older = await stat(`${file}.1`)
    expect([older.size > 10 * 1024 * 1024, older.mode & 0o777]).toEqual([true, 0o600])
  } finally {
    await writer.close()
    await rm(folder, { recursive: true })
  }
})
