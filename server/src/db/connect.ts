import postgres from 'postgres'
import { arrays } from './arrays.ts'
import type { Database, Db, Tx, TxOptions } from './database.ts'
import { type Asking, Door } from './door.ts'
import { Ear } from './ear.ts'
import { hostsOf } from './hosts.ts'
import { type Lane, Lanes } from './lanes.ts'
import { isPlannedOnce } from './plans.ts'
import { Replica } from './replica.ts'
import { emptiedWhenAnswered, takeRows } from './spent.ts'
import { type Sql, render } from './sql.ts'
import { asConflict, mayRunAgain } from './violations.ts'

export const writerRole = 'lastseen_writer'
export const readerRole = 'lastseen_reader'

/**
 * For connections that make or change tables. A plain PostgreSQL takes no notice; on Citus no table is turned into a
 * local one behind our back, and shards are changed one after the other.
 */
export const citusDdlSettings = {
  'citus.enable_local_reference_table_foreign_keys': 'off',
  'citus.multi_shard_modify_mode': 'sequential',
}

/** What is asked for often is in memory. Counted like a disk that turns, fifty rows cost more than reading the table. */
const planning = { random_page_cost: '1.1' }

/** Every role may see the names of connections, so that whoever announces something knows who has to hear it. */
const listenerName = 'lastseen news '

export interface ConnectOptions {
  url: string
  /** A replica for reads that may be a moment old; the main server when absent. */
  replicaUrl?: string | undefined
  poolSize: number
  /** Shared by all processes of one start of the program. */
  family?: string | undefined
  /** How long a single statement is waited for before it is given up. */
  patienceMs?: number
  /** Told of every statement before it runs; tests hold each one against the tenancy fence. */
  onStatement?: (statement: Sql) => void
}

export interface Connection extends Database {
  /** Tells this process from the others on the database. */
  readonly name: string
  /** Calls back for every notification on the channel, from any process, and after every gap in listening. */
  listen(channel: string, heard: (payload: string) => void, resumed: () => void): Promise<void>
  notify(channel: string, payload: string): Promise<void>
  /** The names of all processes that have a connection for listening. */
  listeners(): Promise<string[]>
  /** Rejects when the database does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}

type Pool = postgres.Sql
type Handle = Pick<Pool, 'unsafe'>

/** Timestamps and JSON stay text on the way out of the driver, bigints become numbers: ids stay below 2^53. */
export function openPool(
  url: string,
  max: number,
  parameters: Record<string, string> = {},
  onClose: () => void = noResult,
): Pool {
  const pool = postgres(hostsOf(url).current, {
    max,
    idle_timeout: 0,
    connect_timeout: 10,
    // Seconds before a lost connection is tried again; the driver's own pauses grow to 20 and outlast the outage.
    backoff: () => 0.2,
    fetch_types: false,
    onnotice: noResult,
    onclose: onClose,
    connection: { TimeZone: 'UTC', application_name: 'lastseen', ...parameters },
    types: {
      number: { to: 20, from: [20, 21, 23, 26, 700, 701], serialize: String, parse: Number },
      instant: { to: 1184, from: [1184, 1114, 1082], serialize: String, parse: (text: string) => text },
      ...arrays,
      document: { to: 114, from: [114, 3802], serialize: String, parse: (text: string) => text },
    },
  })
  return pool
}

/** More than there are for single statements: a transaction mostly waits for its next statement or for the disk. */
export const lanesOf = (poolSize: number): number => 2 * poolSize

export const randomName = (): string => Math.random().toString(36).slice(2)

/** Whether a process that listens was made by the same start of the program. */
export const isOfFamily = (name: string, family: string): boolean => name.startsWith(`${family}/`)

const noResult = (): undefined => undefined

export function connect(options: ConnectOptions): Connection {
  const patienceMs = options.patienceMs ?? 40_000
  const limit = {
    statement_timeout: String(Math.floor(patienceMs * 0.75)),
    max_parallel_workers_per_gather: '0',
    ...planning,
  }
  const door = (url: string, role: string): Door =>
    new Door(options.poolSize, patienceMs, (onClose) => openPool(url, 1, { role, ...limit }, onClose))
  const writer = door(options.url, writerRole)
  const reader = door(options.url, readerRole)
  const { replicaUrl } = options
  const replica = replicaUrl === undefined ? null : new Replica(replicaUrl, door(replicaUrl, readerRole), reader)
  const name = `${options.family ?? ''}/${process.pid}-${randomName()}`
  const ear = new Ear(() => openPool(options.url, 1, { role: writerRole, application_name: `${listenerName}${name}` }))
  // On Citus the organization that a transaction names must be known where its rows live.
  const writing = { role: writerRole, 'citus.propagate_set_commands': 'local', ...planning }
  const openLane = (onClose: () => void): Pool => openPool(options.url, 1, writing, onClose)
  const lanes = new Lanes(lanesOf(options.poolSize), patienceMs, openLane)
  const { onStatement } = options
  const stopWatching = hostsOf(options.url).watch(() => {
    for (const way of [writer, reader, lanes]) way.abandon()
    ear.move()
  })

  function ask<Row extends object>(handle: Handle, statement: Sql): postgres.PendingQuery<Row[]> {
    onStatement?.(statement)
    const { text, values } = render(statement)
    const asking: Asking = { prepare: true, isPlannedOnce: isPlannedOnce(statement) }
    return handle.unsafe(text, values as never[], asking)
  }

  const on = (handle: Handle): Db => ({
    query: async <Row extends object>(statement: Sql) => takeRows<Row>(await ask<Row>(handle, statement)),
  })

  async function attempt<Result>(work: (lane: Lane) => Promise<Result>): Promise<Result> {
    const lane = await lanes.take()
    try {
      return await whileConnected(lane, () => work(lane))
    } finally {
      lanes.give(lane)
    }
  }

  async function run<Result>(
    lane: Lane,
    opening: readonly string[],
    work: (tx: Tx) => Promise<Result>,
  ): Promise<Result> {
    const connection = live(lane)
    // Sent without waiting: the first statement follows in the same packet, and fails too should one of these fail.
    const begun = Promise.all(opening.map((text) => connection.unsafe(text).simple().execute()))
    begun.catch(noResult)
    try {
      const result = await work(on(connection) as Tx)
      await begun
      await connection.unsafe('commit').simple()
      return result
    } catch (error) {
      if (!lane.isLost) await connection.unsafe('rollback').simple().catch(noResult)
      throw error
    }
  }

  /** Everything is sent before anything is answered, in this order. After a failure the commit takes all of it back. */
  async function send<Result>(
    lane: Lane,
    opening: readonly string[],
    work: (tx: Tx) => Promise<Result>,
  ): Promise<Result> {
    const connection = live(lane)
    const sent: Promise<unknown>[] = opening.map((text) => connection.unsafe(text).simple().execute())
    let isOpen = true
    const query = async <Row extends object>(statement: Sql): Promise<Row[]> => {
      if (!isOpen) throw new Error('a statement came after the commit')
      const answer = ask<Row>(connection, statement).execute()
      sent.push(answer)
      return takeRows<Row>(await answer)
    }
    const result = work({ query } as Tx)
    result.catch(noResult)
    isOpen = false
    sent.push(connection.unsafe('commit').simple().execute())
    const failed = (await Promise.allSettled(sent)).find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return result
  }

  async function untilDone<Result>(work: (lane: Lane) => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(work)
      } catch (error) {
        if (mayRunAgain(error) && tries < 4) continue
        throw asConflict(error) ?? error
      }
    }
  }

  return {
    name,
    read: on(reader),
    reports: on(replica ?? reader),
    common: on(writer),
    inOrganization(orgId, work, { relaxed = false }: TxOptions = {}) {
      const opening = openingOf(orgId, relaxed)
      return untilDone((lane) => run(lane, opening, work))
    },
    sendInOrganization(orgId, work) {
      const opening = openingOf(orgId)
      return untilDone((lane) => send(lane, opening, work))
    },
    shared: (work) => untilDone((lane) => run(lane, ['begin'], work)),
    async listen(channel, heard, resumed) {
      await ear.listen(channel, heard, resumed)
    },
    async notify(channel, payload) {
      await writer.unsafe('select pg_notify($1, $2)', [channel, payload])
    },
    async listeners() {
      const rows = await writer.unsafe<{ application_name: string }[]>(
        'select application_name from pg_stat_activity where datname = current_database() and starts_with(application_name, $1)',
        [listenerName],
      )
      return rows.map((row) => row.application_name.slice(listenerName.length))
    },
    async ping() {
      await reader.unsafe('select 1')
    },
    async close() {
      stopWatching()
      await Promise.all([writer.close(), reader.close(), replica?.close(), ear.close(), lanes.close()])
    },
  }
}

/** The statements apart from each other: Citus repeats the whole text of a SET wherever the transaction goes. */
function openingOf(orgId: number, relaxed = false): readonly string[] {
  if (!Number.isSafeInteger(orgId)) throw new TypeError('an organization id is an integer')
  const commit = relaxed ? '; set local synchronous_commit = off' : ''
  return ['begin', `set local app.org_id = '${orgId}'${commit}`]
}

const lost = (): Error => new Error('the connection to the database was lost during a transaction')

/** Sends nothing on a connection that is gone, and gives up one that does not answer. */
function live(lane: Lane): Handle {
  return {
    unsafe: ((...given: Parameters<Pool['unsafe']>) => {
      if (lane.isLost) throw lost()
      lane.waitFor.refresh()
      return emptiedWhenAnswered(lane.handle.unsafe(...given))
    }) as Pool['unsafe'],
  }
}

/** Ends with the connection at the latest: a statement that was still waiting to be sent would never end. */
function whileConnected<Result>(lane: Lane, work: () => Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    lane.onLost = () => reject(lost())
    work().then(resolve, reject)
  })
}
