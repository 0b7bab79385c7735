import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const WAIT_MS = 120_000

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Distinguishes a process from a later one with the same pid, on systems that record start times. */
async function startTime(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}

/** Identifies this process, even if a later process gets the same pid. */
export const processToken = async (): Promise<string> => `${process.pid}-${await startTime(process.pid)}`

/** The token is a `processToken`, optionally with a suffix. */
export async function holderIsAlive(token: string): Promise<boolean> {
  const [pid = '', started = '0'] = token.split('-')
  return isAlive(Number(pid)) && (await startTime(Number(pid))) === started
}

/**
 * Runs the work while no other process or caller runs work under the same path.
 *
 * The lock is a directory that contains one file, named after the holder's token. It is created atomically by a rename.
 * Because the file name is unique, removing the stale file of a dead holder can never remove the lock of the next one.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const token = `${await processToken()}-${randomBytes(6).toString('hex')}`
  const deadline = Date.now() + WAIT_MS
  while (!(await tryLock(path, token))) {
    if (Date.now() > deadline) {
      const [holder = ''] = await readdir(path).catch(() => [])
      throw new Error(
        `Another process (pid ${holder.split('-')[0]}) has been preparing the database for two minutes. ` +
          `Stop it and try again (its lock is ${path}).`,
      )
    }
    await sleep(100)
  }
  try {
    return await work()
  } finally {
    await rm(join(path, token), { force: true })
    await rmdir(path).catch(() => undefined)
  }
}

async function tryLock(path: string, token: string): Promise<boolean> {
  const [holder] = await readdir(path).catch(() => [])
  if (holder !== undefined) {
    if (await holderIsAlive(holder)) return false
    await rm(join(path, holder), { force: true })
  }
  const draft = `${path}-${token}`
  await mkdir(draft)
  await writeFile(join(draft, token), '')
  await rmdir(path).catch(() => undefined)
  try {
    await rename(draft, path)
    return true
  } catch {
    await rm(draft, { recursive: true, force: true })
    return false
  }
}
