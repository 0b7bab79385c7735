import cluster, { type Worker } from 'node:cluster'
import { type Server, createServer } from 'node:net'
import type { Config } from '../config/config.ts'
import { roles } from '../config/settings.ts'
import { randomName } from '../db/create-database.ts'
import { openAppContext, openDatabase, prepareDatabase } from './context.ts'
import { firstOrganizationName, bootstrap } from './bootstrap.ts'
import { isOutputClosed, openLog } from './log.ts'
import { localUrl } from './local-url.ts'
import { recordServer } from './running-server.ts'
import { startRetention } from '../jobs/retention.ts'
import { startServer } from './server.ts'
import { simulate } from './simulate.ts'

/** Plain lines for the person who started the program, on standard error; the log goes to standard output. */
const say = (line: string): void => void process.stderr.write(`${line}\n`)

const drainMs = 10_000

interface Shutdown {
  /** Resolves when the process is to stop, and says why. */
  requested: Promise<string>
  request: (why: string) => void
}

/**
 * The process stops on a signal, when its terminal is closed (SIGHUP), and when nobody reads its output any more: it
 * would otherwise end at once and leave the embedded PostgreSQL running.
 */
function listenForShutdown(onOutputClosed?: () => void): Shutdown {
  let request: (why: string) => void = () => undefined
  const requested = new Promise<string>((resolve) => (request = resolve))
  // The handlers stay: under npm, Ctrl+C arrives twice, and the second signal must not interrupt the shutdown.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => request(signal))
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (isOutputClosed(error)) (onOutputClosed ?? (() => request('output closed')))()
  })
  return { requested, request }
}

function whyNotListening(error: NodeJS.ErrnoException, host: string, port: number): string {
  const another = port < 65_535 ? port + 1 : 8080
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken. Stop what uses it, or choose another: PORT=${another} npm start`
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

/** Told before anything is started, so that a taken port costs nobody a half-started database. */
function checkPort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe: Server = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => reject(new Error(whyNotListening(error, host, port))))
    probe.listen(port, host, () => probe.close(() => resolve()))
  })
}

/** Runs until asked to stop: drains requests, then releases the database. */
export async function serve(config: Config, isDemo: boolean): Promise<void> {
  if (cluster.isWorker) return serveAsWorker(config)
  const shutdown = listenForShutdown()
  await checkPort(config.host, config.port)
  const database = await openDatabase(config, { progress: say, mayCreate: true })
  try {
    await prepareDatabase(config, database.url, say)
    if (config.roles.has('api')) await greet(config, database.url)
    const demo = isDemo ? playDemo(config, database.url, shutdown.requested) : Promise.resolve()
    if (config.workers === 1) await serveRequests(config, { url: database.url }, shutdown)
    else await superviseWorkers(config, database.url, shutdown)
    await demo
  } finally {
    await database.release()
  }
  say('Stopped.')
}

/** A worker whose output is closed leaves the shutdown to the supervisor, which would otherwise start another worker. */
async function serveAsWorker(config: Config): Promise<void> {
  const reportClosed = (): void => {
    if (process.connected) process.send?.({ outputClosed: true })
  }
  const shutdown = { ...listenForShutdown(reportClosed), request: reportClosed }
  try {
    await serveRequests(config, JSON.parse(process.env['LASTSEEN_WORKER'] ?? '{}') as Place, shutdown)
  } finally {
    // The channel to the supervisor would keep a worker alive that has nothing left to do.
    cluster.worker?.disconnect()
  }
}

async function greet(config: Config, url: string): Promise<void> {
  const context = await openAppContext({ config, url })
  try {
    const greeting = await bootstrap(context, url)
    if (greeting !== null) say(greeting)
  } finally {
    await context.close()
  }
}

/** A simulated warehouse in the first organization, so that there is something to look at. */
async function playDemo(config: Config, url: string, asked: Promise<string>): Promise<void> {
  const stop = new AbortController()
  void asked.then(() => stop.abort())
  const context = await openAppContext({ config, url })
  try {
    const target = localUrl('http', config.host, config.port)
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

/** Says where the server listens and records it for operator commands; returns the function that removes the record. */
async function publishAndWait(config: Config, port: number): Promise<() => Promise<void>> {
  const forgetServer = await recordServer(config, port)
  const what = config.roles.has('api') ? 'API reference at /api/docs' : [...config.roles].join(' and ')
  say(`Lastseen is ready: ${localUrl('http', config.host, port)}  (${what}, stop with Ctrl+C)`)
  return forgetServer
}

/** The database, and the family of a worker. */
interface Place {
  url: string
  instanceGroup?: string
}

async function serveRequests(config: Config, { url, instanceGroup }: Place, shutdown: Shutdown): Promise<void> {
  const { logger: log, flush } = openLog(config, () => shutdown.request('output closed'))
  const isWorker = instanceGroup !== undefined
  const context = await openAppContext({ config, url, instanceGroup })
  try {
    const { host, port } = config
    // One that does a part of the work alone has others beside it.
    const isSplit = config.roles.size < roles.length
    const server = await startServer(context, {
      host,
      port,
      isOneOfSeveral: isWorker || isSplit,
      log,
      tell: say,
    }).catch((error: unknown) => {
      // Another start may have taken the port while this one prepared the database.
      if ((error as NodeJS.ErrnoException).syscall !== 'listen') throw error
      throw new Error(whyNotListening(error as NodeJS.ErrnoException, host, port))
    })
    const stopRetention = startRetention(context, url, log)
    const forgetServer = isWorker ? undefined : await publishAndWait(config, server.port)
    if (isWorker) process.send?.({ ready: true })
    else for (const notice of server.notices) say(notice)
    await shutdown.requested
    if (!isWorker) say('Stopping: finishing the requests that are running …')
    await forgetServer?.()
    await server.close(drainMs)
    await stopRetention()
  } finally {
    await context.close()
    await flush()
  }
}

/** So many workers in a row that end before they are ready, while no other one serves, are enough to give up. */
const maxFailedStarts = 5

/**
 * Keeps as many workers as were asked for, and ends when they have ended after a signal, or when none can start. One has
 * ended when its process has and its line is closed: until then connections may be handed to it, and when one is on its way
 * to it as it is killed, Node tells nothing else.
 */
async function superviseWorkers(config: Config, url: string, shutdown: Shutdown): Promise<void> {
  let stopping = false
  let ready = 0
  let failedStarts = 0
  const living = new Set<Worker>()
  const serving = new Set<Worker>()
  const place: Place = { url, instanceGroup: randomName() }
  let forgetServer = async (): Promise<void> => undefined
  let giveUp = (): void => undefined
  const hopeless = new Promise<'hopeless'>((resolve) => (giveUp = () => resolve('hopeless')))
  let onLastGone = (): void => undefined
  const isHopeless = (worker: Worker): boolean => {
    if (serving.delete(worker)) return false
    return ++failedStarts >= maxFailedStarts && serving.size === 0
  }
  const fork = (): void => {
    const worker = cluster.fork({ LASTSEEN_WORKER: JSON.stringify(place) })
    living.add(worker)
    worker.on('message', (message: { ready?: boolean; outputClosed?: boolean }) => {
      if (message.outputClosed) shutdown.request('output closed')
      if (!message.ready) return
      failedStarts = 0
      serving.add(worker)
      if (++ready === config.workers) void publishAndWait(config, config.port).then((forget) => (forgetServer = forget))
    })
    worker.process.on('close', (code: number | null, signal: string | null) => {
      living.delete(worker)
      if (living.size === 0) onLastGone()
      if (stopping) return
      if (isHopeless(worker)) return giveUp()
      say(`Worker ${worker.process.pid} ended with ${signal ?? `code ${code}`}; starting another`)
      setTimeout(() => !stopping && fork(), 1000)
    })
  }
  for (let count = 0; count < config.workers; count++) fork()
  const why = await Promise.race([shutdown.requested, hopeless])
  stopping = true
  if (why !== 'hopeless') say('Stopping: finishing the requests that are running …')
  const tell = (signal: NodeJS.Signals): void => living.forEach((worker) => worker.process.kill(signal))
  tell('SIGTERM')
  setTimeout(() => tell('SIGKILL'), 2 * drainMs).unref()
  await forgetServer()
  if (living.size > 0) await new Promise<void>((resolve) => (onLastGone = resolve))
  if (why === 'hopeless')
    throw new Error(`No worker could start, ${maxFailedStarts} times in a row. What they said stands above.`)
}
