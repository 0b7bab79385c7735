import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ReaderFleet, overHttp } from '../support/reader-fleet.ts'
import {
  type Pair as Credential,
  type ReadyServer,
  lastseen,
  serve,
  tokenFor,
  usePrograms,
  withSql,
} from '../support/process.ts'
import { type Pair, debianPrograms, startPair } from '../support/replication.ts'
import { eventually } from '../support/tracking.ts'

/** Creates assets one after the other and records the acknowledged ones. */
class Writer {
  readonly made: { key: string; atMs: number }[] = []
  readonly #server: ReadyServer
  readonly #tokens: string[]
  #isOver = false
  #writing: Promise<void> = Promise.resolve()

  constructor(server: ReadyServer, tokens: string[]) {
    this.#server = server
    this.#tokens = tokens
  }

  start(): void {
    this.#writing = this.#write()
  }

  async finish(): Promise<void> {
    this.#isOver = true
    await this.#writing
  }

  async #write(): Promise<void> {
    for (let number = 0; !this.#isOver; number++) {
      const json = { external_key: `W-${number}`, name: 'Written' }
      const token = this.#tokens[number % this.#tokens.length]!
      const status = await this.#server.send('POST', '/api/v1/assets', { token, json }).then(
        (reply) => reply.status,
        () => 0,
      )
      if (status === 201) this.made.push({ key: `W-${number}`, atMs: performance.now() })
      else await sleep(50)
    }
  }
}

describe.skipIf(!existsSync(debianPrograms))('A primary and its standby', { timeout: 90_000 }, () => {
  usePrograms()
  let pair: Pair
  let url: string
  let settings: Record<string, string>
  let server: ReadyServer
  let fleet: ReaderFleet
  let tokens: string[]

  beforeAll(async () => {
    pair = await startPair()
    // The standby comes first in the URL, because the order must not matter.
    url = `postgres://postgres@127.0.0.1:${pair.standby.port},127.0.0.1:${pair.primary.port}/lastseen?target_session_attrs=read-write`
    settings = { DATABASE_URL: url, LASTSEEN_REPLICA_URL: pair.standby.url, LASTSEEN_LOG_LEVEL: 'silent' }
    server = await serve(settings)
    fleet = await ReaderFleet.create(url, 2, 4)
    const scopes = 'assets:read,assets:write,tracking:read'
    const keys = ['key', 'create', '--org', 'Fleet', '--name', 'k', '--scopes', scopes, '--count', '12', '--json']
    const made = await lastseen(keys, settings)
    expect([made.code, made.stderr]).toEqual([0, ''])
    tokens = await Promise.all((JSON.parse(made.stdout) as Credential[]).map((key) => tokenFor(server.url, key)))
  }, 120_000)

  afterAll(async () => {
    await server?.program.stop()
    pair?.remove()
  })

  const report = async (): Promise<Record<string, string>> => {
    const reply = await server.send('GET', '/api/v1/reports/asset-locations', { token: tokens[0]! })
    expect(reply.status).toBe(200)
    return Object.fromEntries(
      (reply.json.data as Record<string, string>[]).map((row) => [row['asset_id'], row['asset_last_seen']!]),
    )
  }
  const fromStandby = (): Promise<number> =>
    pair.standby.sql(
      async (sql) => (await sql`select from pg_stat_activity where application_name = 'lastseen'`).length,
    )

  it('serve reports from the standby with a short delay, and from the primary while the standby is down', async () => {
    await eventually(async () => {
      await report()
      expect(await fromStandby()).toBeGreaterThan(0)
    })
    fleet.start(overHttp(server.url))
    await fleet.waitForBatches(4)
    await eventually(async () => expect(Object.keys(await report()).length).toBe(8))
    await pair.standby.sql((sql) => sql`select pg_wal_replay_pause()`)
    await eventually(async () => {
      const [paused] = await pair.standby.sql((sql) => sql`select pg_get_wal_replay_pause_state() as state`)
      expect(paused!['state']).toBe('paused')
    })
    const before = await report()
    await fleet.waitForBatches(6)
    // Committed and acknowledged, but not yet replayed by the standby.
    expect(await report()).toEqual(before)
    await pair.standby.sql((sql) => sql`select pg_wal_replay_resume()`)
    await eventually(async () => expect(await report()).not.toEqual(before))

    await pair.primary.sql(async (sql) => {
      await sql`alter system set synchronous_standby_names = ''`
      await sql`select pg_reload_conf()`
    })
    pair.standby.stop()
    const then = await report()
    await fleet.waitForBatches(6)
    await eventually(async () => expect(await report()).not.toEqual(then))
    await pair.standby.start()
    await pair.primary.sql(async (sql) => {
      await sql`alter system set synchronous_standby_names = 'second'`
      await sql`select pg_reload_conf()`
    })
    await eventually(async () => {
      await report()
      expect(await fromStandby()).toBeGreaterThan(0)
    })
    await fleet.waitForBatches(2)
  })

  it('fail over without a restart: no acknowledged write is lost, and writes resume within seconds', async () => {
    const writer = new Writer(server, tokens)
    writer.start()
    await eventually(async () => expect(writer.made.length).toBeGreaterThan(10))
    await fleet.waitForBatches(4)
    await pair.primary.kill()
    await sleep(300)
    const before = writer.made.length
    await pair.standby.sql((sql) => sql`select pg_promote(true, 30)`)
    const promotedAt = performance.now()
    await eventually(async () => expect(writer.made.length).toBeGreaterThan(before + 5), 20_000)
    expect(writer.made[before]!.atMs - promotedAt).toBeLessThan(10_000)
    await fleet.waitForBatches(4)
    await writer.finish()
    await fleet.finish()

    const keys = await pair.standby.sql(
      (sql) => sql`select external_key as key from assets where external_key like 'W-%'`,
    )
    const there = new Set(keys.map((row) => row['key'] as string))
    expect(writer.made.filter(({ key }) => !there.has(key))).toEqual([])
    expect(await fleet.recorded(pair.standby.url)).toEqual(fleet.expected())
    expect(server.program.isRunning).toBe(true)
    // Processes receive each other's events again.
    await eventually(async () => {
      const listeners = await pair.standby.sql((sql) => sql`select from pg_stat_activity where query ilike 'listen%'`)
      expect(listeners.length).toBeGreaterThan(0)
    })
    expect((await server.send('GET', '/readyz')).status).toBe(200)
  })

  const assetsOn = (address: string): Promise<number> =>
    withSql(address, async (sql) => (await sql`select count(*)::int as count from assets`)[0]!['count'] as number)
  const create = async (): Promise<number> => {
    const reply = await server.send('POST', '/api/v1/assets', { token: tokens[1]!, json: { name: 'Later' } })
    return reply.status
  }

  it('never write to the former primary when it is started again', async () => {
    await pair.primary.start({ synchronous_standby_names: '' })
    const former = await assetsOn(pair.primary.url)
    // Long enough for every process to have probed both servers.
    await sleep(2500)
    const now = await assetsOn(pair.standby.url)
    expect(await create()).toBe(201)
    expect(await assetsOn(pair.standby.url)).toBe(now + 1)

    // A new process detects which of the two was promoted later.
    const made = await lastseen(['org', 'create', '--name', 'After', '--json'], settings)
    expect([made.code, made.stderr]).toEqual([0, ''])
    const names = (address: string) =>
      withSql(address, async (sql) => (await sql`select from organization_names where name = 'After'`).length)
    expect([await names(pair.standby.url), await names(pair.primary.url)]).toEqual([1, 0])

    // Not even when it is the only server left.
    pair.standby.stop()
    await eventually(async () => expect(await create()).toBe(500))
    await sleep(2500)
    expect(await create()).toBe(500)
    expect(await assetsOn(pair.primary.url)).toBe(former)
    await pair.standby.start()
    await eventually(async () => expect(await create()).toBe(201), 15_000)
    expect(await assetsOn(pair.primary.url)).toBe(former)
  })
})

describe('A database URL with several servers', () => {
  it('without a writable one is rejected with a reason for each server', async () => {
    const ended = await lastseen(['org', 'create', '--name', 'x'], {
      DATABASE_URL: 'postgres://keeper:hush@127.0.0.1:1,127.0.0.1:2/lastseen?target_session_attrs=primary',
    })
    expect([ended.code, ended.stderr]).toEqual([
      1,
      'The database 127.0.0.1:1,127.0.0.1:2/lastseen (DATABASE_URL) cannot be used: ' +
        '127.0.0.1:1: connection refused; 127.0.0.1:2: connection refused\n',
    ])
  })
})
