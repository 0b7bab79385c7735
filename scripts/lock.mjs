import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const patienceMs = 15 * 60_000

const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** What the work returns, or the fallback when the file is not there. */
function unlessMissing(work, fallback) {
  try {
    return work()
  } catch (error) {
    if (error.code === 'ENOENT') return fallback
    throw error
  }
}

/** Tells a process from a later one with the same number, where the system records start times. */
function startTime(pid) {
  const text = unlessMissing(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}

function isHeldBy(holder) {
  const [pid, started] = holder.split('-')
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    if (error.code !== 'EPERM') return false
  }
  return startTime(pid) === started
}

/** The number of the process that holds the lock, or undefined when this one holds it now. */
function take(path, token) {
  const [holder] = unlessMissing(() => readdirSync(path), [])
  if (holder !== undefined) {
    if (isHeldBy(holder)) return holder.split('-')[0]
    rmSync(join(path, holder), { force: true })
  }
  const draft = `${path}-${token}`
  mkdirSync(draft, { recursive: true })
  writeFileSync(join(draft, token), '')
  try {
    unlessMissing(() => rmdirSync(path))
    renameSync(draft, path)
    return undefined
  } catch {
    rmSync(draft, { recursive: true, force: true })
    return unlessMissing(() => readdirSync(path), [])[0]?.split('-')[0] ?? 'unknown'
  }
}

/**
 * Runs the work while no other process runs work under the same path; a holder that died does not count. The lock is a
 * folder with one file named after its holder, so whoever clears away a dead one's cannot hit the next one's.
 */
export function withLock(path, work) {
  const token = `${process.pid}-${startTime(process.pid)}-${randomBytes(4).toString('hex')}`
  const deadline = Date.now() + patienceMs
  mkdirSync(dirname(path), { recursive: true })
  let told = false
  for (let holder = take(path, token); holder !== undefined; holder = take(path, token)) {
    if (Date.now() > deadline) throw new Error(`Process ${holder} has been at work for too long; its lock is ${path}`)
    if (!told) process.stderr.write(`Waiting for another start (process ${holder}) …\n`)
    told = true
    pause(100)
  }
  try {
    return work()
  } finally {
    rmSync(join(path, token), { force: true })
    try {
      rmdirSync(path)
    } catch {
      // The next one holds it already.
    }
  }
}
