import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { cloneDatabase } from '../support/database.ts'
import { firstCredentials, serve, tokenFor, usePrograms } from '../support/process.ts'

usePrograms()

it('serve --demo creates a warehouse of 300 assets with history and keeps them moving', async () => {
  const database = await cloneDatabase()
  const settings = { DATABASE_URL: database.url, LASTSEEN_LOG_LEVEL: 'silent', LASTSEEN_MQTT_PORT: '0' }
  const server = await serve(settings, { args: ['serve', '--demo'] })
  const { program, url } = server
  const token = await tokenFor(url, firstCredentials(program.stderr))
  const get = async (path: string) => {
    const reply = await server.send('GET', path, { token })
    expect(reply.status).toBe(200)
    return reply.json
  }
  const report = '/api/v1/reports/asset-locations'
  const end = Date.now() + 60_000
  while ((await get(report)).total_count < 300 && Date.now() < end) await sleep(1000)
  const { total_count, data } = await get(report)
  expect(total_count).toBe(300)

  await program.says(/Demo: \d+ reads sent. Continuing live with 5 reads per second./)
  const history = await get(`/api/v1/assets/${data[0].asset_id}/history`)
  expect(history.total_count).toBeGreaterThan(5)
  const isRecent = async (): Promise<boolean> => {
    const [latest] = (await get(`${report}?limit=1`)).data
    return Date.now() - Date.parse(latest.asset_last_seen) < 10_000
  }
  await expect.poll(isRecent, { timeout: 15_000, interval: 1000 }).toBe(true)
  const { code, stderr } = await program.stop()
  expect(code).toBe(0)
  expect(stderr).not.toMatch(/MaxListenersExceededWarning/)
  await database.drop()
}, 120_000)
