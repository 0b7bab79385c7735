import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Session, openSession } from '../db/session.ts'
import { sql } from '../db/sql.ts'
import {
  loginRole,
  clusterExists,
  hasDatabase,
  openDataDir,
  prepareCluster,
  displayPath,
  type DataDirectory,
} from './cluster.ts'
import { withLock } from './file-lock.ts'
import { readPostmaster, rotateLog, startPostmaster, stopPostmaster } from './postmaster.ts'

export interface EmbeddedPostgres {
  readonly url: string
  release(): Promise<void>
}

/** Every process that uses the server holds this advisory lock shared. Only the last process can get it exclusively. */
const LEASE_KEY = 7_265_431_908
const START_TIMEOUT_MS = 15_000
const SHORT_START_TIMEOUT_MS = 2_000
/** A server that does not answer for this long is started again. */
const UNRESPONSIVE_MS = 5_000
const MAX_WAIT_MS = 300_000
const QUERY_TIMEOUT_MS = 10_000
/** The delay before a lost lease is acquired again, and between two attempts. */
const REACQUIRE_DELAY_MS = 100
const LOG_ROTATION_MS = 60_000

/** Transient problems: a server that is just stopping, or a port that was taken in the meantime. */
const TRANSIENT = /postmaster\.pid|lock file|shared memory|address already in use|TCP\/IP/i

type Progress = (line: string) => void

export interface EmbeddedOptions {
  dataDir: string
  progress: Progress
  /** False for operator commands: a mistyped data directory must not create a second, empty installation. */
  mayCreate?: boolean
}

interface Lease extends EmbeddedPostgres {
  readonly version: string
  readonly port: number
}

interface LeaseFailure {
  /** No running server uses the data directory. */
  readonly absent: boolean
  /** The server answered that it is starting, recovering or stopping. */
  readonly answering: boolean
  readonly reason: string
}

/**
 * Acquires a lease of the PostgreSQL server for the files under `dataDir`. The server is started if necessary and shared
 * with the other processes that use it; the last `release` stops it.
 */
export async function acquireEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  if (options.mayCreate === false && !(await hasDatabase(options.dataDir)))
    throw new Error(`no database in ${options.dataDir}; is LASTSEEN_DATA_DIR right?`)
  const directory = await openDataDir(options.dataDir)
  await clusterExists(directory)
  const beganMs = Date.now()
  let lastAnswerMs = beganMs
  let isStartedHere = false
  for (;;) {
    const lease = await acquireLease(directory)
    if ('release' in lease) {
      if (isStartedHere) options.progress(`PostgreSQL ${lease.version} is running on port ${lease.port}`)
      return { url: lease.url, release: () => lease.release() }
    }
    if (lease.answering) lastAnswerMs = Date.now()
    const unresponsiveMs = Date.now() - lastAnswerMs
    let failure = lease.reason
    let timeoutMs = START_TIMEOUT_MS
    if (lease.absent || unresponsiveMs > UNRESPONSIVE_MS) {
      const preparationMs = Date.now()
      const problem = await withLock(directory.lock, async () => {
        if (lease.absent && (await readPostmaster(directory.pgdata))) return undefined
        const ready = await prepareCluster(directory, options.progress)
        // Creating a database may take long and does not count as an unresponsive server.
        lastAnswerMs += Date.now() - preparationMs
        isStartedHere = true
        return startPostmaster(directory, ready)
      })
      if (problem === undefined) lastAnswerMs = Date.now()
      else {
        failure = `${failure} ${problem}`.trim()
        if (!TRANSIENT.test(problem)) timeoutMs = SHORT_START_TIMEOUT_MS
      }
    }
    if (Date.now() - lastAnswerMs > timeoutMs || Date.now() - beganMs > MAX_WAIT_MS) {
      throw new Error(`PostgreSQL could not be started in ${displayPath(directory.pgdata)}. ${failure}`)
    }
    if (failure !== '') await sleep(200)
  }
}

async function urlOf(directory: DataDirectory, port: number): Promise<string> {
  const password = (await readFile(directory.passwordFile, 'utf8')).trim()
  return `postgres://${loginRole}:${encodeURIComponent(password)}@127.0.0.1:${port}/lastseen?sslmode=disable`
}

const connect = (url: string, onEnd?: () => void): Promise<Session> =>
  openSession(url, {
    parameters: { application_name: 'lastseen lease', lock_timeout: '5000' },
    connectTimeoutMs: 5000,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    ...(onEnd === undefined ? {} : { onEnd }),
  })

async function acquireLease(directory: DataDirectory): Promise<Lease | LeaseFailure> {
  const server = await readPostmaster(directory.pgdata)
  if (!server) return { absent: true, answering: false, reason: '' }
  let isHeld = false
  let timer: NodeJS.Timeout | undefined
  let session: Session | undefined
  let reacquiring: Promise<void> | undefined
  const url = await urlOf(directory, server.port)
  const acquire = async (): Promise<string> => {
    session = await connect(url, () => reacquireSoon())
    const [row] = await session.query<{ version: string }>(
      sql`select current_setting('server_version') as version, pg_advisory_lock_shared(${LEASE_KEY})::text`,
    )
    return row?.version ?? ''
  }

  // After a crash and restart the server holds no leases. Without this, the next release would stop a server that is in use.
  const reacquireSoon = (): void => {
    if (!isHeld || timer) return
    timer = setTimeout(() => {
      timer = undefined
      if (!isHeld) return
      reacquiring = restart(directory, server.port)
        .then(() => acquire())
        .then(
          () => undefined,
          () => reacquireSoon(),
        )
    }, REACQUIRE_DELAY_MS)
    timer.unref()
  }

  try {
    const version = await acquire()
    const current = await readPostmaster(directory.pgdata)
    if (current?.pid !== server.pid || current.status === 'stopping') throw new Error('PostgreSQL was just stopping.')
    isHeld = true
    const rotating = setInterval(
      () => void rotateLog(directory.logFile).catch(() => undefined),
      LOG_ROTATION_MS,
    ).unref()
    let releasing: Promise<void> | undefined
    const release = () => {
      isHeld = false
      clearTimeout(timer)
      clearInterval(rotating)
      // A lease that is just acquired again must be released too, otherwise the server would never stop.
      releasing ??= Promise.resolve(reacquiring).then(() => releaseLease(directory, session!))
      return releasing
    }
    return { url, port: server.port, version, release }
  } catch (error) {
    await session?.end(0)
    const code = (error as { code?: string }).code ?? ''
    const reason =
      code === '28P01'
        ? `The password in ${displayPath(directory.passwordFile)} is not the one of this database.`
        : (error as Error).message
    return { absent: false, answering: ['57P03', '55P03'].includes(code), reason }
  }
}

/** Starts a server that died again, on the same port, so that the processes that use it can reconnect. */
async function restart(directory: DataDirectory, port: number): Promise<void> {
  if (await readPostmaster(directory.pgdata)) return
  const problem = await withLock(directory.lock, async () => {
    if (await readPostmaster(directory.pgdata)) return undefined
    return startPostmaster(directory, await prepareCluster(directory, () => {}), port)
  })
  if (problem !== undefined) throw new Error(problem)
}

/** Releases the session's lease. Returns whether it was the last one; then the session's lock makes new users wait. */
async function isLast(session: Session): Promise<boolean> {
  await session.query(sql`select pg_advisory_unlock_all()`)
  const [row] = await session.query<{ last: boolean }>(sql`select pg_try_advisory_lock(${LEASE_KEY}) as last`)
  return row?.last === true
}

/** A server that cannot be reached is not stopped, because other processes may still use it. */
async function releaseLease(directory: DataDirectory, lease: Session): Promise<void> {
  const deadline = Date.now() + QUERY_TIMEOUT_MS
  for (let session: Session | undefined = lease; ; await sleep(200)) {
    const server = await readPostmaster(directory.pgdata)
    if (!server || Date.now() > deadline) return
    try {
      session ??= await connect(await urlOf(directory, server.port))
      if (await isLast(session)) break
      return await session.end(1000)
    } catch {
      await session?.end(0)
      session = undefined
    }
  }
  // The session is kept until PostgreSQL has stopped: its lock makes new users wait.
  await stopPostmaster(directory)
}
