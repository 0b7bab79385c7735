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
  shown,
  type DataDirectory,
} from './cluster.ts'
import { withLock } from './file-lock.ts'
import { readPostmaster, rotateLog, startPostmaster, stopPostmaster } from './postmaster.ts'

export interface EmbeddedPostgres {
  readonly url: string
  release(): Promise<void>
}

/** Every user of the server holds this advisory lock shared; whoever gets it exclusively is the last one. */
const LEASE = 7_265_431_908
const PATIENCE_MS = 15_000
const SHORT_PATIENCE_MS = 2_000
const WAIT_FOR_SILENT_MS = 5_000
const LIMIT_MS = 300_000
const QUERY_MS = 10_000
/** How soon a server that died under its users is looked after, and how soon again. */
const RETAKE_MS = 100
const ROTATE_MS = 60_000

/** Troubles that pass by themselves: a server that is just ending, or a port that was taken meanwhile. */
const PASSING = /postmaster\.pid|lock file|shared memory|address already in use|TCP\/IP/i

type Progress = (line: string) => void

export interface EmbeddedOptions {
  dataDir: string
  progress: Progress
  /** False for operator commands: a mistyped data folder must not become a second, empty installation. */
  mayCreate?: boolean
}

interface Lease extends EmbeddedPostgres {
  readonly version: string
  readonly port: number
}

interface LeaseFailure {
  /** No process claims to serve the directory. */
  readonly absent: boolean
  /** The server answered that it is starting, recovering or stopping. */
  readonly answering: boolean
  readonly reason: string
}

/**
 * Gives a PostgreSQL server on the files under `dataDir`, started now or shared with the other processes that use it.
 *
 * The server runs for as long as somebody holds it: the last `release` stops it.
 */
export async function acquireEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  if (options.mayCreate === false && !(await hasDatabase(options.dataDir)))
    throw new Error(`no database in ${options.dataDir}; is LASTSEEN_DATA_DIR right?`)
  const place = await openDataDir(options.dataDir)
  await clusterExists(place)
  const began = Date.now()
  let heard = began
  let started = false
  for (;;) {
    const lease = await takeLease(place)
    if ('release' in lease) {
      if (started) options.progress(`PostgreSQL ${lease.version} is running on port ${lease.port}`)
      return { url: lease.url, release: () => lease.release() }
    }
    if (lease.answering) heard = Date.now()
    const silent = Date.now() - heard
    let failure = lease.reason
    let patience = PATIENCE_MS
    if (lease.absent || silent > WAIT_FOR_SILENT_MS) {
      const asked = Date.now()
      const problem = await withLock(place.lock, async () => {
        if (lease.absent && (await readPostmaster(place.pgdata))) return undefined
        const ready = await prepareCluster(place, options.progress)
        // Creating a database may take long and is no sign of trouble.
        heard += Date.now() - asked
        started = true
        return startPostmaster(place, ready)
      })
      if (problem === undefined) heard = Date.now()
      else {
        failure = `${failure} ${problem}`.trim()
        if (!PASSING.test(problem)) patience = SHORT_PATIENCE_MS
      }
    }
    if (Date.now() - heard > patience || Date.now() - began > LIMIT_MS) {
      throw new Error(`PostgreSQL could not be started in ${shown(place.pgdata)}. ${failure}`)
    }
    if (failure !== '') await sleep(200)
  }
}

async function urlOf(place: DataDirectory, port: number): Promise<string> {
  const password = (await readFile(place.passwordFile, 'utf8')).trim()
  return `postgres://${loginRole}:${encodeURIComponent(password)}@127.0.0.1:${port}/lastseen?sslmode=disable`
}

const connect = (url: string, onEnd?: () => void): Promise<Session> =>
  openSession(url, {
    parameters: { application_name: 'lastseen lease', lock_timeout: '5000' },
    connectTimeoutMs: 5000,
    queryTimeoutMs: QUERY_MS,
    ...(onEnd === undefined ? {} : { onEnd }),
  })

async function takeLease(place: DataDirectory): Promise<Lease | LeaseFailure> {
  const server = await readPostmaster(place.pgdata)
  if (!server) return { absent: true, answering: false, reason: '' }
  let held = false
  let timer: NodeJS.Timeout | undefined
  let session: Session | undefined
  const url = await urlOf(place, server.port)
  const take = async (): Promise<string> => {
    session = await connect(url, () => retakeSoon())
    const [row] = await session.query<{ version: string }>(
      sql`select current_setting('server_version') as version, pg_advisory_lock_shared(${LEASE})::text`,
    )
    return row?.version ?? ''
  }

  // Without this, a server that came back after a crash could be stopped under its users by the next release.
  const retakeSoon = (): void => {
    if (!held || timer) return
    timer = setTimeout(() => {
      timer = undefined
      if (held)
        void restart(place, server.port)
          .then(() => take())
          .catch(retakeSoon)
    }, RETAKE_MS)
    timer.unref()
  }

  try {
    const version = await take()
    const now = await readPostmaster(place.pgdata)
    if (now?.pid !== server.pid || now.status === 'stopping') throw new Error('PostgreSQL was just stopping.')
    held = true
    const rotating = setInterval(() => void rotateLog(place.logFile).catch(() => undefined), ROTATE_MS).unref()
    let releasing: Promise<void> | undefined
    const release = () => {
      held = false
      clearTimeout(timer)
      clearInterval(rotating)
      return (releasing ??= releaseLease(place, session!))
    }
    return { url, port: server.port, version, release }
  } catch (error) {
    await session?.end(0)
    const code = (error as { code?: string }).code ?? ''
    const reason =
      code === '28P01'
        ? `The password in ${shown(place.passwordFile)} is not the one of this database.`
        : (error as Error).message
    return { absent: false, answering: ['57P03', '55P03'].includes(code), reason }
  }
}

/** A server that died under its users is started again where they look for it. */
async function restart(place: DataDirectory, port: number): Promise<void> {
  if (await readPostmaster(place.pgdata)) return
  const problem = await withLock(place.lock, async () => {
    if (await readPostmaster(place.pgdata)) return undefined
    return startPostmaster(place, await prepareCluster(place, () => {}), port)
  })
  if (problem !== undefined) throw new Error(problem)
}

/** Gives up this connection's lease and tells whether nobody else holds one; if so, newcomers wait from here on. */
async function isLast(session: Session): Promise<boolean> {
  await session.query(sql`select pg_advisory_unlock_all()`)
  const [row] = await session.query<{ last: boolean }>(sql`select pg_try_advisory_lock(${LEASE}) as last`)
  return row?.last === true
}

/** A server that can no longer be reached is left alone, because nobody can tell whether others use it. */
async function releaseLease(place: DataDirectory, lease: Session): Promise<void> {
  const deadline = Date.now() + QUERY_MS
  for (let session: Session | undefined = lease; ; await sleep(200)) {
    const server = await readPostmaster(place.pgdata)
    if (!server || Date.now() > deadline) return
    try {
      session ??= await connect(await urlOf(place, server.port))
      if (await isLast(session)) break
      return await session.end(1000)
    } catch {
      await session?.end(0)
      session = undefined
    }
  }
  // The session is kept until PostgreSQL has stopped: its lock makes new users wait.
  await stopPostmaster(place)
}
