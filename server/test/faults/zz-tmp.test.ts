import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { Fleet } from '../support/fleet.ts'
import { type ReadyServer, databaseOf, freePort, newFolder, serve, usePrograms, withSql } from '../support/process.ts'

describe('when the embedded database is killed while readers send', () => {
  usePrograms()
  let server: ReadyServer | undefined
  afterEach(async () => {
    await server?.program.stop('SIGKILL')
  })

  const open = async () => {
    const dataDir = newFolder()
    const port = String(await freePort())
    const settings = { LASTSEEN_DATA_DIR: dataDir, PORT: port, LASTSEEN_MQTT_PORT: '0', LASTSEEN_LOG_LEVEL: 'silent' }
    server = await serve(settings)
    const fleet = await Fleet.settle((await databaseOf(dataDir))!.url, 3, 5)
    fleet.start(() => server!.url)
    await fleet.more(10)
    return { dataDir, settings, fleet }
  }

  it('whole, the next start of the server recovers it: nothing acknowledged is lost or doubled (D31, D32)', async () => {
    const { dataDir, settings, fleet } = await open()
    for (let round = 0; round < 6; round++) {
      process.kill((await databaseOf(dataDir))!.pid, 'SIGKILL')
      await sleep(Math.random() * 100)
      const isAsked = round % 2 === 0
      const ended = await server!.program.stop(isAsked ? 'SIGTERM' : 'SIGKILL')
      expect([ended.code, ended.signal], ended.stderr).toEqual(isAsked ? [0, null] : [null, 'SIGKILL'])
      server = await serve(settings)
      await fleet.more(10)
    }
    await fleet.finish()
    const expected = fleet.expected()
    expect(expected.moves.length).toBeGreaterThan(150)
    expect(await fleet.recorded((await databaseOf(dataDir))!.url)).toEqual(expected)
    await server!.program.stop()
  }, 240_000)

  it('in one of its processes, the server goes on by itself: nothing acknowledged is lost or doubled (D31, D32)', async () => {
    const { dataDir, fleet } = await open()
    const { url } = (await databaseOf(dataDir))!
    for (let round = 0; round < 60; round++) {
      const pid = await withSql(url, async (sql) => {
        const [row] = await sql`
          select pid from pg_stat_activity where pid <> pg_backend_pid() and query like '%asset_minutes%'
          limit 1`
        return row?.['pid'] as number | undefined
      })
      if (pid === undefined) {
        round--
        continue
      }
      process.kill(pid, 'SIGKILL')
      const ended = server!.program.ended.then(({ stderr }) => stderr)
      expect(await Promise.race([fleet.more(10), ended]), 'the server ended').toBe(undefined)
    }
    await fleet.finish()
    expect(server!.program.isRunning).toBe(true)
    expect(fleet.resent).toBeGreaterThan(0)
    const expected = fleet.expected()
    expect(await fleet.recorded(url)).toEqual(expected)
    await server!.program.stop()
  }, 240_000)
})
