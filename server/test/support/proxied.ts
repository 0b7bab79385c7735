import { type Server, type Socket, connect, createServer } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { openCore } from '../../src/app/core.ts'
import { startServer } from '../../src/app/server.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { TestApp } from './app.ts'
import { cloneDatabase } from './database.ts'
import { saveAnswers } from './description.ts'

/** A way to the database that can be closed and opened again, as an outage does. */
class Passage {
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #port = 0

  constructor(target: string) {
    this.#target = new URL(target)
  }

  get url(): string {
    const url = new URL(this.#target)
    url.host = `127.0.0.1:${this.#port}`
    return url.href
  }

  open(): Promise<void> {
    const server = createServer((near) => {
      const far = connect(Number(this.#target.port), this.#target.hostname)
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one)
        one.on('data', (bytes) => other.write(bytes))
        one.on('error', () => undefined)
        one.on('close', () => {
          this.#sockets.delete(one)
          other.destroy()
        })
      }
    })
    this.#server = server
    return new Promise((resolve) => {
      server.listen(this.#port, '127.0.0.1', () => {
        this.#port = (server.address() as { port: number }).port
        resolve()
      })
    })
  }

  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server?.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    return closed
  }
}

/** The service with a database that can be taken away and given back. */
export function useProxiedApp(clock: Clock): { readonly app: TestApp; readonly passage: Passage } {
  const holder = { app: undefined as never as TestApp, passage: undefined as never as Passage }
  beforeAll(async () => {
    const database = await cloneDatabase()
    holder.passage = new Passage(database.url)
    await holder.passage.open()
    const { url } = holder.passage
    const core = await openCore({ config: readConfig({ DATABASE_URL: url }), url, clock })
    const log = pino({ level: 'silent' })
    const server = await startServer(core, { host: '127.0.0.1', port: 0, isOneOfSeveral: false, log })
    holder.app = new TestApp(`http://127.0.0.1:${server.port}`, core, database.url, async () => {
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
