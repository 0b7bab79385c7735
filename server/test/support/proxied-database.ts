import { pino } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { openAppContext } from '../../src/app/context.ts'
import { startServer } from '../../src/app/server.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { TestApp } from './app.ts'
import { cloneDatabase } from './database.ts'
import { saveSeenResponses } from './openapi.ts'
import { TcpProxy } from './tcp-proxy.ts'

/** Starts an app that reaches its database through a proxy, so that a test can simulate an outage. */
export function useAppBehindProxy(
  clock: Clock,
  settings: Record<string, string> = {},
): { readonly app: TestApp; readonly proxy: TcpProxy } {
  const fixture = { app: undefined as never as TestApp, proxy: undefined as never as TcpProxy }
  beforeAll(async () => {
    const database = await cloneDatabase()
    fixture.proxy = new TcpProxy(database.url)
    await fixture.proxy.open()
    const { url } = fixture.proxy
    const context = await openAppContext({ config: readConfig({ DATABASE_URL: url, ...settings }), url, clock })
    const log = pino({ level: 'silent' })
    const server = await startServer(context, { host: '127.0.0.1', port: 0, isOneOfSeveral: false, log })
    fixture.app = new TestApp([`http://127.0.0.1:${server.port}`], context, database.url, async () => {
      await server.close(1000)
      await context.close()
      await fixture.proxy.close()
      await database.drop()
      saveSeenResponses()
    })
  })
  afterAll(() => fixture.app.stop())
  return fixture
}
