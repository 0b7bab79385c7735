import cluster from 'node:cluster'
import { type Server, createServer } from 'node:net'
import { pino } from 'pino'
import type { Config } from '../config/config.ts'
import { openCore, openDatabase, prepareDatabase } from './core.ts'
import { firstRun } from './first-run.ts'
import { startServer } from './server.ts'

/** Plain lines for whoever started the program; the log proper is JSON on standard output. */
const say = (line: string): void => void process.stderr.write(`${line}\n`)

const drainMs = 10_000

function untilAskedToStop(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal))
  })
}

/** Told before anything is started, so that a taken port costs nobody a half-started database. */
function checkPort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe: Server = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `Port ${port} on ${host} is taken. Stop what uses it, or choose another: PORT=8081 npm start`
      reject(error.code === 'EADDRINUSE' ? new Error(taken) : error)
    })
    probe.listen(port, host, () => probe.close(() => resolve()))
  })
}

/** Runs until asked to stop: drains requests, then lets go of the database. */
export async function serve(config: Config): Promise<void> {
  if (cluster.isWorker) return serveRequests(config, process.env['LASTSEEN_WORKER_DATABASE_URL'] ?? '', true)
  const asked = untilAskedToStop()
  await checkPort(config.host, config.port)
  const database = await openDatabase(config, say)
  try {
    await prepareDatabase(database.url, say)
    const core = await openCore({ config, url: database.url })
    const greeting = await firstRun(core)
    await core.close()
    if (greeting !== null) say(greeting)
    if (config.workers === 1) await serveRequests(config, database.url, false, asked)
    else await superviseWorkers(config, database.url, asked)
  } finally {
    await database.release()
    say('Stopped.')
  }
}

const announce = (config: Config, port: number): void => {
  const host = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host
  say(`Lastseen is ready: http://${host}:${port}  (API reference at /api/docs, stop with Ctrl+C)`)
}

async function serveRequests(
  config: Config,
  url: string,
  isOneOfSeveral: boolean,
  asked = untilAskedToStop(),
): Promise<void> {
  const log = pino({ level: config.logLevel, base: { pid: process.pid } }, pino.destination({ sync: false }))
  const core = await openCore({ config, url })
  const server = await startServer(core, { host: config.host, port: config.port, isOneOfSeveral, log })
  if (isOneOfSeveral) process.send?.({ ready: true })
  else announce(config, server.port)
  await asked
  if (!isOneOfSeveral) say('Stopping: finishing the requests that are running …')
  await server.close(drainMs)
  await core.close()
  log.flush()
}

/** Keeps as many workers as were asked for, and ends when they have ended after a signal. */
async function superviseWorkers(config: Config, url: string, asked: Promise<string>): Promise<void> {
  let stopping = false
  let ready = 0
  const fork = (): void => {
    const worker = cluster.fork({ LASTSEEN_WORKER_DATABASE_URL: url })
    worker.on('message', (message: { ready?: boolean }) => {
      if (message.ready && ++ready === config.workers) announce(config, config.port)
    })
  }
  const allGone = new Promise<void>((resolve) => {
    cluster.on('exit', (worker, code) => {
      if (stopping) {
        if (Object.keys(cluster.workers ?? {}).length === 0) resolve()
        return
      }
      say(`Worker ${worker.process.pid} ended with code ${code}; starting another`)
      setTimeout(() => !stopping && fork(), 1000)
    })
  })
  for (let count = 0; count < config.workers; count++) fork()
  await asked
  stopping = true
  say('Stopping: finishing the requests that are running …')
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
  if (Object.keys(cluster.workers ?? {}).length > 0) await allGone
}
