import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const timeoutMs = 15 * 60_000
const pollMs = 100

const sleepSync = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** Returns the result of `work`, or the fallback when the file does not exist. */
function unlessMissing(work, fallback) {
  try {
    return work()
  } catch (error) {
    if (error.code === 'ENOENT') return fallback
    throw error
  }
}

/** The start time distinguishes a process from a later one with the same pid. It is '0' where there is no /proc. */
function startTime(pid) {
  const text = unlessMissing(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}

function isAlive(owner) {
  const [pid, started] = owner.split('-')
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    if (error.code !== 'EPERM') return false
  }
  return startTime(pid) === started
}

/** Returns undefined when this process has acquired the lock, otherwise the pid of its owner. */
function tryAcquire(path, token) {
  const [owner] = unlessMissing(() => readdirSync(path), [])
  if (owner !== undefined) {
    if (isAlive(owner)) return owner.split('-')[0]
    rmSync(join(path, owner), { force: true })
  }
  const candidate = `${path}-${token}`
  mkdirSync(candidate, { recursive: true })
  writeFileSync(join(candidate, token), '')
  try {
    unlessMissing(() => rmdirSync(path))
    renameSync(candidate, path)
    return undefined
  } catch {
    rmSync(candidate, { recursive: true, force: true })
    return unlessMissing(() => readdirSync(path), [])[0]?.split('-')[0] ?? 'unknown'
  }
}

/**
 * Runs `work` while no other process runs work under the same path. A lock whose owner has died is ignored. The lock is a
 * folder with one file named after its owner, so removing the file of a dead owner cannot release a newer lock.
 */
export function withFileLock(path, work) {
  const token = `${process.pid}-${startTime(process.pid)}-${randomBytes(4).toString('hex')}`
  const deadline = Date.now() + timeoutMs
  mkdirSync(dirname(path), { recursive: true })
  let isLogged = false
  for (let owner = tryAcquire(path, token); owner !== undefined; owner = tryAcquire(path, token)) {
    if (Date.now() > deadline)
      throw new Error(`Process ${owner} has held the lock ${path} for too long. Stop it first.`)
    if (!isLogged) process.stderr.write(`Waiting for another start (process ${owner}) …\n`)
    isLogged = true
    sleepSync(pollMs)
  }
  try {
    return work()
  } finally {
    rmSync(join(path, token), { force: true })
    try {
      rmdirSync(path)
    } catch {
      // Another process has acquired the lock already.
    }
  }
}
