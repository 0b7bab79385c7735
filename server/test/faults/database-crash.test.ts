import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ReaderFleet, type Transport, overHttp, overMqtt } from '../support/reader-fleet.ts'
import { freePort } from '../support/free-port.ts'
import { type ReadyServer, databaseOf, newFolder, serve, usePrograms, withSql } from '../support/process.ts'
import { killCount } from '../support/rounds.ts'

const kills = killCount(20)

describe('one process over its own database, while readers send', () => {
  usePrograms()
  const dataDir = newFolder()
  let server: ReadyServer
  let databaseUrl: string
  let http: Transport
  let mqtt: ReturnType<typeof overMqtt>

  beforeAll(async () => {
    const mqttPort = String(await freePort())
    server = await serve({
      LASTSEEN_DATA_DIR: dataDir,
      LASTSEEN_MQTT_PORT: mqttPort,
      LASTSEEN_LOG_LEVEL: 'silent',
    })
    databaseUrl = (await databaseOf(dataDir))!.url
    http = overHttp(server.url)
    mqtt = overMqtt(`mqtt://127.0.0.1:${mqttPort}`, { isOutside: false })
  }, 120_000)

  afterAll(async () => {
    await mqtt.end()
    const { code } = await server.program.stop()
    expect(code).toBe(0)
  }, 120_000)

  /** The process of the current database, ignoring killed ones that may still answer while the next one starts. */
  async function running(ended: ReadonlySet<number>): Promise<number> {
    for (;;) {
      const found = await databaseOf(dataDir)
      if (found !== undefined && !ended.has(found.pid)) return found.pid
      await sleep(20)
    }
  }

  async function expectExactly(fleets: readonly ReaderFleet[]): Promise<void> {
    for (const fleet of fleets) await fleet.finish()
    for (const fleet of fleets) expect(await fleet.recorded(databaseUrl)).toEqual(fleet.expected())
    expect(server.program.isRunning).toBe(true)
  }

  /** Two organizations, one with readers over HTTP and one with readers over MQTT. */
  async function both(): Promise<ReaderFleet[]> {
    const fleets = [await ReaderFleet.create(databaseUrl, 2, 5), await ReaderFleet.create(databaseUrl, 2, 5)]
    fleets[0]!.start(http)
    fleets[1]!.start(mqtt)
    return fleets
  }

  it('outlives every kill of the database: every acknowledged read is recorded once, every move detected once (D31, D32)', async () => {
    const fleet = await ReaderFleet.create(databaseUrl, 4, 6)
    fleet.start(http)
    const killed = new Set<number>()
    for (let round = 0; round < kills; round++) {
      await fleet.waitForBatches(8)
      const pid = await running(killed)
      await sleep(Math.random() * 60)
      process.kill(pid, 'SIGKILL')
      killed.add(pid)
    }
    await fleet.waitForBatches(8)
    await expectExactly([fleet])
    expect(killed.size).toBe(kills)
    expect(fleet.resent).toBeGreaterThan(kills)
    expect(fleet.expected().moves.length).toBeGreaterThan(25 * kills)
  }, 300_000)

  it('survives restarts of the database, over HTTP and over MQTT (D31, D32)', async () => {
    const fleets = await both()
    const ended = new Set<number>()
    for (let round = 0; round < 3; round++) {
      for (const fleet of fleets) await fleet.waitForBatches(6)
      const pid = await running(ended)
      process.kill(pid, 'SIGINT')
      ended.add(pid)
    }
    for (const fleet of fleets) await fleet.waitForBatches(6)
    await expectExactly(fleets)
    for (const fleet of fleets) expect(fleet.resent).toBeGreaterThan(0)
  }, 120_000)

  it('never stalls when single database connections are terminated repeatedly (D31, D32)', async () => {
    const fleets = await both()
    let ended = 0
    await withSql(databaseUrl, async (sql) => {
      for (let round = 0; round < 100; round++) {
        await sleep(Math.random() * 40)
        const rows = await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where (application_name = 'lastseen' or application_name like 'lastseen pubsub %')
            and datname = current_database() order by random() limit 1`
        ended += rows.length
      }
    })
    // A stalled connection would delay its readers for ten seconds or more.
    const calmAt = performance.now()
    for (const fleet of fleets) await fleet.waitForBatches(6)
    expect(performance.now() - calmAt).toBeLessThan(9000)
    await expectExactly(fleets)
    expect(ended).toBeGreaterThan(50)
  }, 120_000)
})
