import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { ReaderFleet, overHttp } from '../support/reader-fleet.ts'
import { freePort } from '../support/free-port.ts'
import { serve, usePrograms } from '../support/process.ts'
import { killCount } from '../support/rounds.ts'

const kills = killCount(12)

describe('when the server is killed while readers send', () => {
  usePrograms()
  let database: TestDatabase
  beforeAll(async () => {
    database = await cloneDatabase()
  })
  afterAll(() => database.drop())

  it('every acknowledged read is recorded once and every move detected once, through every crash (D31, D32)', async () => {
    const port = String(await freePort())
    const settings = { DATABASE_URL: database.url, PORT: port, LASTSEEN_MQTT_PORT: '0', LASTSEEN_LOG_LEVEL: 'silent' }
    const fleet = await ReaderFleet.create(database.url, 4, 6)
    fleet.start(overHttp(`http://127.0.0.1:${port}`))
    for (let crash = 0; crash < kills; crash++) {
      const { program } = await serve(settings)
      await fleet.waitForBatches(8)
      await sleep(Math.random() * 150)
      const { signal } = await program.stop('SIGKILL')
      expect(signal).toBe('SIGKILL')
    }
    const { program } = await serve(settings)
    await fleet.waitForBatches(8)
    await fleet.finish()
    await program.stop()

    const expected = fleet.expected()
    expect(fleet.batches).toBeGreaterThan((kills + 1) * 8)
    expect(fleet.resent).toBeGreaterThan(kills)
    expect(expected.moves.length).toBeGreaterThan(25 * kills)
    expect(await fleet.recorded(database.url)).toEqual(expected)
  }, 300_000)
})
