import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { withAdvisoryLock } from '../../src/db/advisory-lock.ts'
import { transactionPoolSize } from '../../src/db/connection-pools.ts'
import { type Connection, createDatabase } from '../../src/db/create-database.ts'
import type { Tx } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { eventually } from '../support/tracking.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

// Lost data is never answered, so a longer timeout would not help.
vi.setConfig({ testTimeout: 15_000 })

let database: TestDatabase
let admin: postgres.Sql
let db: Connection
const uncaught: unknown[] = []
const note = (error: unknown): void => void uncaught.push(error)

beforeAll(async () => {
  database = await cloneDatabase()
  admin = postgres(database.url, { max: 1, onnotice: () => undefined })
})

afterAll(async () => {
  await admin.end({ timeout: 5 })
  await database.drop()
})

beforeEach(() => {
  uncaught.length = 0
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
  db = createDatabase({ url: database.url, poolSize: 2, timeoutMs: 1000 })
})

afterEach(async () => {
  process.off('uncaughtException', note)
  process.off('unhandledRejection', note)
  await db.close()
})

const pidOf = async (tx: Tx): Promise<number> =>
  (await tx.query<{ pid: number }>(sql`select pg_backend_pid() as pid`))[0]!.pid

/** Ends the server's side of a connection, as a restart or a failover does. */
async function cut(pid: number): Promise<void> {
  await admin`select pg_terminate_backend(${pid}::int)`
  await expect.poll(() => admin`select from pg_stat_activity where pid = ${pid}`).toHaveLength(0)
  await new Promise((resume) => setTimeout(resume, 20))
}

async function expectStillServing(): Promise<void> {
  const works = Array.from({ length: 6 }, () => db.withTenant(1, (tx) => tx.query(sql`select 1 as one`)))
  for (const rows of await Promise.all(works)) expect(rows).toEqual([{ one: 1 }])
  expect(uncaught).toEqual([])
}

describe('A transaction whose connection is dropped', () => {
  it('between two statements fails, and later transactions succeed', async () => {
    const work = db.withTenant(1, async (tx) => {
      await cut(await pidOf(tx))
      return tx.query(sql`select 1`)
    })
    await expect(work).rejects.toThrow()
    await expectStillServing()
  })

  it('during a statement fails, and later transactions succeed', async () => {
    const work = db.withTenant(1, async (tx) => {
      const pid = await pidOf(tx)
      const sleeping = tx.query(sql`select pg_sleep(20)`)
      sleeping.catch(() => undefined)
      await cut(pid)
      return sleeping
    })
    await expect(work).rejects.toThrow()
    await expectStillServing()
  })

  it('before the callback throws fails, and later transactions succeed', async () => {
    const work = db.withTenant(1, async (tx) => {
      await cut(await pidOf(tx))
      throw new Error('a reason of its own')
    })
    await expect(work).rejects.toThrow()
    await expectStillServing()
  })

  it('before its commit is not reported as successful', async () => {
    const work = db.withTenant(1, async (tx) => {
      await cut(await pidOf(tx))
      return 'done'
    })
    await expect(work).rejects.toThrow()
    await expectStillServing()
  })
})

describe('Idle connections that are dropped', () => {
  it('are replaced without an error', async () => {
    await expectStillServing()
    for (const { pid } of await admin<{ pid: number }[]>`
      select pid from pg_stat_activity where datname = current_database() and application_name = 'lastseen'`)
      await cut(pid)
    await expectStillServing()
    await expect(db.read.query(sql`select 1 as one`)).resolves.toEqual([{ one: 1 }])
    await expect(db.global.query(sql`select 1 as one`)).resolves.toEqual([{ one: 1 }])
  })
})

describe('Connections that are dropped repeatedly under load', () => {
  it('leave no request waiting forever and no unhandled rejection', async () => {
    const doors = [
      () => db.global.query(sql`select 1`),
      () => db.read.query(sql`select ${1}::int`),
      () => db.withTenant(1, (tx) => tx.query(sql`select 2`)),
    ]
    let isOver = false
    const callers = Array.from({ length: 12 }, async (_, index) => {
      while (!isOver) await doors[index % doors.length]!().catch(() => undefined)
    })
    for (let round = 0; round < 25; round++) {
      await new Promise((resume) => setTimeout(resume, 80))
      await admin`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`
    }
    isOver = true
    await Promise.all(callers)
    // A connection whose end was not noticed yet may still fail one statement.
    await eventually(expectStillServing)
    await eventually(() => expect(db.read.query(sql`select 1 as one`)).resolves.toEqual([{ one: 1 }]))
    await eventually(() => expect(db.global.query(sql`select 1 as one`)).resolves.toEqual([{ one: 1 }]))
  })
})

describe('Connections that end at the moment of a statement', () => {
  let proxy: TcpProxy
  let far: Connection

  beforeEach(async () => {
    proxy = new TcpProxy(database.url)
    await proxy.open()
    far = createDatabase({ url: proxy.url, poolSize: 1 })
    return async () => {
      await far.close()
      await proxy.close()
    }
  })

  /** Node reads the end, runs immediates, then emits the event: so the driver has not sent its statement yet. */
  const cutAt = (statement: () => Promise<unknown>): Promise<unknown> =>
    new Promise((resolve) => {
      setTimeout(() => {
        proxy.dropConnections()
        setImmediate(() => resolve(statement().catch(() => undefined)))
      })
    })

  it.each([
    ['read', (on: Connection) => on.read.query(sql`select 1 as one`)],
    ['common', (on: Connection) => on.global.query(sql`select 1 as one`)],
    ['transaction', (on: Connection) => on.withTenant(1, (tx) => tx.query(sql`select 1 as one`))],
  ])('fail that statement at most, and never the next: %s', async (_access, ask) => {
    for (let times = 0; times < 5; times++) {
      await expect(ask(far)).resolves.toEqual([{ one: 1 }])
      await cutAt(() => ask(far))
    }
    const asked = performance.now()
    await expect(ask(far)).resolves.toEqual([{ one: 1 }])
    expect(performance.now() - asked).toBeLessThan(5000)
    expect(uncaught).toEqual([])
  })
})

describe('A database that takes what it is sent and never answers', () => {
  it('is given up in time by a statement and by a transaction, and both are served when it answers again', async () => {
    const proxy = new TcpProxy(database.url)
    await proxy.open()
    const far = createDatabase({ url: proxy.url, poolSize: 1, timeoutMs: 500 })
    const transact = () => far.withTenant(1, (tx) => tx.query(sql`select 1 as one`))
    await expect(transact()).resolves.toEqual([{ one: 1 }])
    proxy.isDroppingData = true
    await expect(transact()).rejects.toThrow('Query read timeout')
    await expect(far.global.query(sql`select 1`)).rejects.toThrow('timeout expired')
    await expect(transact()).rejects.toThrow()
    proxy.isDroppingData = false
    await expect.poll(transact, { timeout: 10_000, interval: 100 }).toEqual([{ one: 1 }])
    await expect(far.global.query(sql`select 1 as one`)).resolves.toEqual([{ one: 1 }])
    await far.close()
    await proxy.close()
  })
})

describe('A pool that is closed', () => {
  const left = () => admin`
    select from pg_stat_activity where datname = current_database() and application_name = 'lastseen'`

  it('closes its connections as soon as the last transaction has ended, and starts no other', async () => {
    const own = createDatabase({ url: database.url, poolSize: 1 })
    let end = (): void => undefined
    const isOver = new Promise<void>((resolve) => (end = resolve))
    const running = Array.from({ length: transactionPoolSize(1) }, (_, index) =>
      own.withTenant(index + 1, async (tx) => {
        await tx.query(sql`select 1`)
        await isOver
        return tx.query(sql`select 2 as two`)
      }),
    )
    const waiting = own.withTenant(1, (tx) => tx.query(sql`select 1`))
    waiting.catch(() => undefined)
    await expect.poll(left).not.toHaveLength(0)
    await own.close()
    end()
    for (const one of running) await expect(one).resolves.toEqual([{ two: 2 }])
    await expect(waiting).rejects.toThrow('closed')
    await db.close()
    await expect.poll(left, { timeout: 5000 }).toHaveLength(0)
  })
})

describe('Work under an advisory lock', () => {
  it('continues when its connection is dropped, and other processes can get the lock', async () => {
    const cutMeanwhile = withAdvisoryLock(database.url, 4712, async () => {
      const [holder] = await admin<{ pid: number }[]>`
        select pid from pg_locks where locktype = 'advisory' and objid = 4712 and granted`
      await cut(holder!.pid)
      return 'done'
    })
    await expect(cutMeanwhile).resolves.toBe('done')
    await expect(withAdvisoryLock(database.url, 4712, async () => 'next')).resolves.toBe('next')
    expect(uncaught).toEqual([])
  })
})

describe('A database that is down for a while', () => {
  const name = (): string => new URL(database.url).pathname.slice(1)
  let elsewhere: postgres.Sql

  beforeEach(async () => {
    const outside = new URL(database.url)
    outside.pathname = '/postgres'
    elsewhere = postgres(outside.href, { max: 1, onnotice: () => undefined })
    await expectStillServing()
    await Promise.all(Array.from({ length: 8 }, () => db.global.query(sql`select 1`)))
    await elsewhere.unsafe(`alter database ${name()} with allow_connections false`)
    await elsewhere`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name()}`
  })

  afterEach(async () => {
    await elsewhere.unsafe(`alter database ${name()} with allow_connections true`)
    await elsewhere.end({ timeout: 5 })
  })

  it('is served again once it is back, however many transactions failed meanwhile', async () => {
    const tries = Array.from({ length: 20 }, () => db.withTenant(1, (tx) => tx.query(sql`select 1`)))
    for (const { status } of await Promise.allSettled(tries)) expect(status).toBe('rejected')
    await elsewhere.unsafe(`alter database ${name()} with allow_connections true`)
    await expect
      .poll(() => db.withTenant(1, (tx) => tx.query(sql`select 1 as one`)), { timeout: 10_000, interval: 200 })
      .toEqual([{ one: 1 }])
    await expectStillServing()
  })

  it('fails single statements within their timeout instead of making them wait', async () => {
    for (let times = 0; times < 8; times++) await expect(db.global.query(sql`select 1`)).rejects.toThrow()
  })
})
