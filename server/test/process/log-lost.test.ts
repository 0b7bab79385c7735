import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cloneDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { launch, newFolder, repository, usePrograms } from '../support/process.ts'
import { send } from '../support/client.ts'

usePrograms()

const entry = `${repository}server/bin/lastseen.mjs`
const longPath = `/${'x'.repeat(4000)}`

/** Starts the server with its standard output redirected by the shell. */
async function serveInto(redirection: string, settings: Record<string, string>) {
  const port = String(await freePort())
  const line = `exec ${process.execPath} ${entry} serve ${redirection}`
  const program = launch({ ...settings, PORT: port }, { command: ['bash', '-c', line] })
  await program.says(/^Lastseen is ready/m)
  return { program, url: `http://127.0.0.1:${port}` }
}

/** Requests whose truncated log lines exceed the log buffer plus the pipe buffer. */
async function fillLog(url: string): Promise<void> {
  for (let round = 0; round < 60; round++) {
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(url, 'GET', longPath)))
    for (const reply of replies) expect(reply.status).toBe(404)
  }
}

/** A server that logs into a pipe without a reader. */
async function serveIntoPipe(format: string) {
  const database = await cloneDatabase()
  const fifo = join(newFolder(), 'log')
  execFileSync('mkfifo', [fifo])
  const settings = { DATABASE_URL: database.url, LASTSEEN_LOG_FORMAT: format }
  return { database, fifo, ...(await serveInto(`3<>${fifo} >${fifo}`, settings)) }
}

/** Mounts a small file system; null without the right to do that. */
function mountSmallDisk(): string | null {
  const folder = newFolder()
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]).status === 0 ? folder : null
}
const disk = mountSmallDisk()
afterAll(() => {
  if (disk !== null) execFileSync('umount', ['--lazy', disk])
})

function fillDisk(file: string): void {
  const isFull = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOSPC'
  for (const bytes of [64 * 1024, 1]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(bytes))
    } catch (error) {
      if (!isFull(error)) throw error
    }
  }
}

describe.each(['json', 'pretty'])('a server whose log lines cannot be written (%s)', { timeout: 180_000 }, (format) => {
  it('keeps serving while the disk is full, and stops on request', async () => {
    const database = await cloneDatabase()
    const { program, url } = await serveInto('>/dev/full', {
      DATABASE_URL: database.url,
      LASTSEEN_LOG_FORMAT: format,
    })
    await fillLog(url)
    expect((await send(url, 'GET', '/readyz')).status).toBe(200)
    expect((await program.stop()).code).toBe(0)
    await database.drop()
  })

  it.skipIf(disk === null)('logs how many lines were lost once the disk has space again', async () => {
    const database = await cloneDatabase()
    const [log, filler] = [join(disk!, format), join(disk!, 'filler')]
    const settings = { DATABASE_URL: database.url, LASTSEEN_LOG_FORMAT: format }
    const { program, url } = await serveInto(`>>${log}`, settings)
    fillDisk(filler)
    await fillLog(url)
    expect((await send(url, 'GET', '/readyz')).status).toBe(200)
    expect(readFileSync(log, 'utf8')).not.toContain('log lines were lost')
    rmSync(filler)
    await expect.poll(() => readFileSync(log, 'utf8'), { timeout: 20_000 }).toMatch(/[1-9]\d* log lines were lost/)
    expect((await program.stop()).code).toBe(0)
    await database.drop()
  })

  it('keeps serving while its pipe has no reader, and logs later how many lines were lost', async () => {
    const { database, fifo, program, url } = await serveIntoPipe(format)
    await fillLog(url)
    expect((await send(url, 'GET', '/readyz')).status).toBe(200)
    const reader = spawn('cat', [fifo], { stdio: ['ignore', 'pipe', 'ignore'] })
    let text = ''
    reader.stdout.setEncoding('utf8').on('data', (more: string) => (text += more))
    await expect.poll(() => text, { timeout: 20_000 }).toMatch(/[1-9]\d* log lines were lost/)
    // A path is cut to 1 KiB.
    expect(text).toContain('x'.repeat(1000))
    expect(text).not.toContain('x'.repeat(1100))
    reader.kill()
    expect((await program.stop()).code).toBe(0)
    await database.drop()
  })

  it('stops on request while its pipe has no reader', async () => {
    const { database, program, url } = await serveIntoPipe(format)
    await fillLog(url)
    const ended = await Promise.race([program.stop(), new Promise((resolve) => setTimeout(resolve, 20_000, null))])
    expect(ended).toMatchObject({ code: 0 })
    await database.drop()
  })
})
