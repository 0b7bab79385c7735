import { execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const startMs = 60_000
/**
 * A session for each, as every process of PostgreSQL has one: where the system shares the processors among sessions, ours
 * would otherwise all live on one share, and callers would wait for the service's.
 */
const alone = { detached: true }

/** Ends a process that this benchmark started, politely first. */
export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000)
  await gone
  clearTimeout(timer)
}

function within(promise, what) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not start within a minute`)), startMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

const program = here('../server/bin/lastseen.mjs')
const surroundings = { PATH: process.env.PATH, HOME: process.env.HOME }

/** Runs a command of the operator and gives what it printed. */
export function runCommand(url, args) {
  const text = execFileSync(process.execPath, [program, ...args, '--json'], {
    env: { ...surroundings, DATABASE_URL: url },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 5 * 60_000,
  })
  return text === '' ? null : JSON.parse(text)
}

const profiling = (folder) => (folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`])

/** The real server as an operator runs it, its log going to a file. */
export async function startService({ url, folder, name, profileDir, mqttPort = 0, workers, environment: more = {} }) {
  const log = openSync(join(folder, `${name}.log`), 'w')
  const ports = { PORT: '0', LASTSEEN_MQTT_PORT: String(mqttPort) }
  const environment = { DATABASE_URL: url, ...ports, LASTSEEN_LOG_LEVEL: 'info', NODE_ENV: 'production', ...more }
  const several = workers === undefined ? [] : ['--workers', String(workers)]
  const child = spawn(process.execPath, [...profiling(profileDir), program, 'serve', ...several], {
    ...alone,
    stdio: ['ignore', log, 'pipe'],
    env: { ...surroundings, ...environment },
  })
  let said = ''
  const ready = new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      said += chunk
      const port = /ready: http:\/\/[^:]+:(\d+)/.exec(said)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    child.once('exit', () => reject(new Error(`the service stopped:\n${said}`)))
  })
  ready.catch(() => undefined)
  const stopped = () => stop(child)
  try {
    return { pid: child.pid, port: await within(ready, 'the service'), stop: stopped }
  } catch (error) {
    await stopped()
    throw error
  }
}

export async function startFloor({ profileDir, ...settings }) {
  const child = fork(here('./floor.mjs'), { ...alone, execArgv: profiling(profileDir) })
  child.send(settings)
  try {
    const [{ port }] = await within(once(child, 'message'), 'the floor')
    return { pid: child.pid, port, stop: () => stop(child) }
  } catch (error) {
    await stop(child)
    throw error
  }
}

/** A process that is prepared once and then runs what it is asked to, one thing after the other. */
function startRunner(file) {
  const child = fork(here(file), alone)
  const ended = once(child, 'exit').then(() => [{ error: 'it has ended' }])
  async function ask(message) {
    child.send(message)
    const [{ result, error }] = await Promise.race([once(child, 'message'), ended])
    if (error !== undefined) throw new Error(`${file} failed: ${error}`)
    return result
  }
  return {
    pid: child.pid,
    prepare: (prepare) => ask({ prepare }),
    run: (run) => ask({ run }),
    look: (look) => ask({ look }),
    stop: () => stop(child),
  }
}

/** Takes only what others leave of the processors, as if it ran on a machine of its own. */
export function yieldToOthers(runner) {
  setPriority(runner.pid, constants.priority.PRIORITY_LOW)
  try {
    writeFileSync(`/proc/${runner.pid}/autogroup`, String(constants.priority.PRIORITY_LOW))
  } catch {
    // The system does not share the processors among sessions.
  }
  return runner
}

export const startLoad = () => startRunner('./load.mjs')
export const startPipeline = () => startRunner('./pipeline.mjs')
export const startReaders = () => startRunner('./ingest-load.mjs')
export const startIngestFloor = () => startRunner('./ingest-floor.mjs')
export const startWebhookFloor = () => startRunner('./webhook-floor.mjs')

export async function startReceiver({ key, cert }) {
  const child = fork(here('./receiver.mjs'), alone)
  child.send({ key, cert })
  const [{ port }] = await within(once(child, 'message'), 'the receiver')
  async function ask(message) {
    child.send(message)
    const [answer] = await once(child, 'message')
    return answer
  }
  return {
    pid: child.pid,
    port,
    reset: () => ask({ reset: true }),
    expect: (count) => ask({ expect: count }),
    stop: () => stop(child),
  }
}

/** A port that nothing listens on. */
export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

/** Resident memory in MiB. */
export function memoryOf(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
  } catch {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024
  }
}

function statOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

export const parentOf = (pid) => Number(statOf(pid)[1])

/** Processor time used so far in milliseconds, or NaN where the system does not tell. */
export function processorMsOf(pid) {
  try {
    const fields = statOf(pid)
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return NaN
  }
}

/** The same of a process and all that descend from it, those that have ended included. */
export function familyProcessorMsOf(root) {
  const family = new Map()
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      family.set(Number(name), statOf(name))
    } catch {
      // It has just ended.
    }
  }
  const isOurs = (pid) => pid === root || (family.has(pid) && isOurs(Number(family.get(pid)[1])))
  let ticks = 0
  for (const [pid, fields] of family) if (isOurs(pid)) for (const field of fields.slice(11, 15)) ticks += Number(field)
  return ticks * 10
}
