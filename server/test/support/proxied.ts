import { pino } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { openAppContext } from '../../src/app/context.ts'
import { startServer } from '../../src/app/server.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { TestApp } from './app.ts'
import { cloneDatabase } from './database.ts'
import { saveAnswers } from './description.ts'
import { Passage } from './tcp-proxy.ts'

/** The service with a database that can be taken away and given back. */
export function useProxiedApp(clock: Clock): { readonly app: TestApp; readonly passage: Passage } {
  const holder = { app: undefined as never as TestApp, passage: undefined as never as Passage }
  beforeAll(async () => {
    const database = await cloneDatabase()
    holder.passage = new Passage(database.url)
    await holder.passage.open()
    const { url } = holder.passage
    const core = await openAppContext({ config: readConfig({ DATABASE_URL: url }), url, clock })
    const log = pino({ level: 'silent' })
    const server = await startServer(core, { host: '127.0.0.1', port: 0, isOneOfSeveral: false, log })
    holder.app = new TestApp([`http://127.0.0.1:${server.port}`], core, database.url, async () => {
      await server.close(1000)
      await core.close()
      await holder.passage.close()
      await database.drop()
      saveAnswers()
    })
  })
  afterAll(() => holder.app.stop())
  return holder
}
