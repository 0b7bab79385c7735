import cluster, { type Worker } from 'node:cluster'
import { type Server, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { roles } from '../config/settings.ts'
import { randomName } from '../db/create-database.ts'
import { ClusterMetrics, type MetricsReport, type MetricsRequest, WorkerMetrics } from './cluster-metrics.ts'
import { openAppContext, openDatabase, prepareDatabase } from './context.ts'
import { firstOrganizationName, bootstrap } from './bootstrap.ts'
import { isOutputClosed, openLog } from './log.ts'
import { localUrl } from './local-url.ts'
import { recordServer } from './running-server.ts'
import { startHourlyJobs } from '../jobs/hourly.ts'
import { startServer } from './server.ts'
import { simulate } from './simulate.ts'
import { startTraces } from './traces.ts'

/** Prints a line for the operator on standard error; the log goes to standard output. */
const say = (line: string): void => void process.stderr.write(`${line}\n`)

const drainMs = 10_000

interface Shutdown {
  /** Resolves with the reason when the process has to stop. */
  requested: Promise<string>
  request: (reason: string) => void
}

/**
 * Requests a shutdown on a signal, when the terminal is closed (SIGHUP), and when standard error is closed. Without it, the
 * process would exit at once in these cases and leave the embedded PostgreSQL running.
 */
function listenForShutdown(onOutputClosed?: () => void): Shutdown {
  let request: (reason: string) => void = () => undefined
  const requested = new Promise<string>((resolve) => (request = resolve))
  // The handlers are never removed: under npm, Ctrl+C arrives twice, and the second signal must not interrupt the shutdown.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => request(signal))
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (isOutputClosed(error)) (onOutputClosed ?? (() => request('output closed')))()
  })
  return { requested, request }
}

function listenErrorMessage(error: NodeJS.ErrnoException, host: string, port: number): string {
  const otherPort = port < 65_535 ? port + 1 : 8080
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another port: PORT=${otherPort} npm start`
    case 'EACCES':
      return `This user may not listen on port ${port}. Choose one from 1024: PORT=8080 npm start`
    case 'EADDRNOTAVAIL':
      return `Lastseen cannot listen on ${host} (LASTSEEN_HOST): it is not an address of this machine`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `Lastseen cannot listen on ${host} (LASTSEEN_HOST): this name is not known`
    default:
      return `Lastseen cannot listen on ${host}, port ${port}: ${error.message}`
  }
}

/** Checks the port before the database is started, so that a port in use is reported at once. */
function checkPort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe: Server = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => reject(new Error(listenErrorMessage(error, host, port))))
    probe.listen(port, host, () => probe.close(() => resolve()))
  })
}

/** Runs until a shutdown is requested, then finishes the requests in flight and releases the database. */
export async function serve(config: Config, isDemo: boolean): Promise<void> {
  if (cluster.isWorker) return serveAsWorker(config)
  const shutdown = listenForShutdown()
  await checkPort(config.host, config.port)
  const database = await openDatabase(config, { progress: say, mayCreate: true })
  try {
    await prepareDatabase(config, database.url, say)
    if (config.roles.has('api')) await bootstrapOnce(config, database.url)
    const demo = isDemo ? runDemo(config, database.url, shutdown.requested) : Promise.resolve()
    if (config.workers === 1) await serveRequests(config, { url: database.url }, shutdown)
    else await superviseWorkers(config, database.url, shutdown)
    await demo
  } finally {
    await database.release()
  }
  say('Stopped.')
}

/** A worker whose output is closed asks the supervisor to shut down, which would otherwise start another worker. */
async function serveAsWorker(config: Config): Promise<void> {
  const reportClosed = (): void => {
    if (process.connected) process.send?.({ outputClosed: true })
  }
  const shutdown = { ...listenForShutdown(reportClosed), request: reportClosed }
  const workerEnv = JSON.parse(process.env['LASTSEEN_WORKER'] ?? '{}') as WorkerEnv
  try {
    await serveRequests(config, workerEnv, shutdown, new WorkerMetrics())
  } finally {
    // The open IPC channel to the supervisor would otherwise keep the worker process alive.
    cluster.worker?.disconnect()
  }
}

async function bootstrapOnce(config: Config, url: string): Promise<void> {
  const context = await openAppContext({ config, url })
  try {
    const credentials = await bootstrap(context, url)
    if (credentials !== null) say(credentials)
  } finally {
    await context.close()
  }
}

/** Simulates a warehouse in the first organization, so that the web app has data to show. */
async function runDemo(config: Config, url: string, shutdownRequested: Promise<string>): Promise<void> {
  const stop = new AbortController()
  void shutdownRequested.then(() => stop.abort())
  // The demo would have to trust the server's certificate.
  if (config.tlsCert !== null) return say('Demo: not available with LASTSEEN_TLS_CERT')
  const context = await openAppContext({ config, url })
  try {
    const target = localUrl(config, 'http', config.port)
    await untilReady(target, stop.signal)
    const options = { org: firstOrganizationName, url: target, assets: 300, rate: 5, days: 3, seconds: null }
    await simulate(context, { ...options, format: 'generic', seed: 7 }, (line) => say(`Demo: ${line}`), stop.signal)
  } catch (error) {
    if (!stop.signal.aborted) say(`Demo: stopped, because ${(error as Error).message}`)
  } finally {
    await context.close()
  }
}

async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const isReady = await fetch(`${url}/readyz`, { headers: { 'user-agent': 'lastseen-demo' } }).then(
      (response) => response.ok,
      () => false,
    )
    if (isReady) return
    await new Promise((resume) => setTimeout(resume, 200))
  }
}

/** Prints the URL of the server and records it for operator commands. Returns a function that removes the record. */
async function announceReady(config: Config, port: number): Promise<() => Promise<void>> {
  const removeRecord = await recordServer(config, port)
  const description = config.roles.has('api') ? 'API reference at /api/docs' : [...config.roles].join(' and ')
  say(`Lastseen is ready: ${localUrl(config, 'http', port)}  (${description}, stop with Ctrl+C)`)
  return removeRecord
}

/** The database URL and, for a worker, the group of its processes. */
interface WorkerEnv {
  url: string
  instanceGroup?: string
}

async function serveRequests(
  config: Config,
  { url, instanceGroup }: WorkerEnv,
  shutdown: Shutdown,
  workerMetrics?: WorkerMetrics,
): Promise<void> {
  const { logger: log, flush } = openLog(config, () => shutdown.request('output closed'))
  const isWorker = instanceGroup !== undefined
  const stopTraces = await startTraces(process.env, log)
  const context = await openAppContext({ config, url, instanceGroup })
  try {
    const { host, port } = config
    // A process without all roles runs next to other processes that have them.
    const hasSomeRoles = config.roles.size < roles.length
    const server = await startServer(context, {
      host,
      port,
      isOneOfSeveral: isWorker || hasSomeRoles,
      log,
      notifyOperator: say,
      ...(workerMetrics && { workerMetrics }),
    }).catch((error: unknown) => {
      // Another program may have taken the port since it was checked.
      if ((error as NodeJS.ErrnoException).syscall !== 'listen') throw error
      throw new Error(listenErrorMessage(error as NodeJS.ErrnoException, host, port))
    })
    const stopHourlyJobs = startHourlyJobs(context, url, { log, ...server })
    const removeRecord = isWorker ? undefined : await announceReady(config, server.port)
    if (isWorker) process.send?.({ ready: true })
    else for (const notice of server.notices) say(notice)
    await shutdown.requested
    if (!isWorker) say('Stopping: finishing the requests in flight …')
    await removeRecord?.()
    server.drain()
    if (config.shutdownDelaySeconds > 0) await sleep(config.shutdownDelaySeconds * 1000)
    await server.close(drainMs)
    await stopHourlyJobs()
  } finally {
    await context.close()
    await stopTraces()
    await flush()
  }
}

/** The program gives up after this many consecutive workers have exited before they were ready, while no worker is ready. */
const maxFailedStarts = 5

/**
 * Keeps the configured number of workers running. Returns when all workers have exited after a shutdown request, and throws
 * when no worker can start. A worker counts as exited at the 'close' event of its process, when its IPC channel is closed,
 * too. It is the only event that Node emits if the worker is killed while a connection is being handed to it.
 */
async function superviseWorkers(config: Config, url: string, shutdown: Shutdown): Promise<void> {
  let isStopping = false
  let readyCount = 0
  let failedStarts = 0
  const workers = new Set<Worker>()
  const metrics = new ClusterMetrics()
  const readyWorkers = new Set<Worker>()
  const workerEnv: WorkerEnv = { url, instanceGroup: randomName() }
  let removeRecord = async (): Promise<void> => undefined
  let giveUp = (): void => undefined
  const startFailed = new Promise<'start failed'>((resolve) => (giveUp = () => resolve('start failed')))
  let onLastExit = (): void => undefined
  const shouldGiveUp = (exited: Worker): boolean => {
    if (readyWorkers.delete(exited)) return false
    return ++failedStarts >= maxFailedStarts && readyWorkers.size === 0
  }
  const fork = (): void => {
    const worker = cluster.fork({ LASTSEEN_WORKER: JSON.stringify(workerEnv) })
    workers.add(worker)
    worker.on('message', (message: { ready?: boolean; outputClosed?: boolean } | MetricsRequest | MetricsReport) => {
      if ('metricsRequest' in message) return void metrics.reply(worker, message)
      if ('metricsAnswer' in message) return metrics.receive(message)
      if (message.outputClosed) shutdown.request('output closed')
      if (!message.ready) return
      failedStarts = 0
      readyWorkers.add(worker)
      metrics.add(worker)
      if (++readyCount === config.workers)
        void announceReady(config, config.port).then((remove) => (removeRecord = remove))
    })
    worker.process.on('close', (code: number | null, signal: string | null) => {
      workers.delete(worker)
      metrics.remove(worker)
      if (workers.size === 0) onLastExit()
      if (isStopping) return
      if (shouldGiveUp(worker)) return giveUp()
      say(`Worker ${worker.process.pid} ended with ${signal ?? `code ${code}`}; starting another`)
      setTimeout(() => !isStopping && fork(), 1000)
    })
  }
  for (let count = 0; count < config.workers; count++) fork()
  const reason = await Promise.race([shutdown.requested, startFailed])
  isStopping = true
  if (reason !== 'start failed') say('Stopping: finishing the requests in flight …')
  const signalAll = (signal: NodeJS.Signals): void => workers.forEach((worker) => worker.process.kill(signal))
  signalAll('SIGTERM')
  const stopMs = config.shutdownDelaySeconds * 1000 + 2 * drainMs
  setTimeout(() => signalAll('SIGKILL'), stopMs).unref()
  await removeRecord()
  if (workers.size > 0) await new Promise<void>((resolve) => (onLastExit = resolve))
  if (reason === 'start failed')
    throw new Error(`No worker could start, ${maxFailedStarts} times in a row. Their error messages are above.`)
}
