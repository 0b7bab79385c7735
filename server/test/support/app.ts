import { pino } from 'pino'
import { afterAll, beforeAll, expect, inject } from 'vitest'
import { type AppContext, openAppContext } from '../../src/app/context.ts'
import { type RunningServer, type ServerOptions, startServer } from '../../src/app/server.ts'
import { readConfig } from '../../src/config/config.ts'
import { render } from '../../src/db/sql.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { createUser } from '../../src/users/commands.ts'
import type { Role } from '../../src/kernel/scopes.ts'
import { Client, type Reply, send } from './client.ts'
import { cloneDatabase } from './database.ts'
import { saveAnswers } from './description.ts'
import { openBeside } from './neighbour.ts'
import { watchStatements } from './statements.ts'

export interface AppOptions {
  /** Settings as environment variables. */
  settings?: Record<string, string>
  clock?: Clock
  /** An app on the database of another one, as a second process would be. */
  beside?: TestApp
  isOneOfSeveral?: boolean
  /** Why this app cannot be two servers that take turns, where every other one is. */
  alone?: string
  /** Told of the text of every statement. */
  onStatement?: (text: string) => void
  /** How webhook events are delivered, where a test cannot wait as long as the service does. */
  delivery?: ServerOptions['delivery']
  /** Hears the lines for whoever runs the program. */
  tell?: (line: string) => void
}

/** The service on a real port over a database of its own. */
export class TestApp {
  readonly core: AppContext
  readonly databaseUrl: string
  readonly #urls: readonly string[]
  readonly #close: () => Promise<void>
  #turn = 0

  constructor(urls: readonly string[], core: AppContext, databaseUrl: string, close: () => Promise<void>) {
    this.#urls = urls
    this.core = core
    this.databaseUrl = databaseUrl
    this.#close = close
  }

  /** Where the next request goes: with two servers, to each in turn. */
  get url(): string {
    return this.#urls[this.#turn++ % this.#urls.length]!
  }

  async newOrg(name = 'Test organization'): Promise<TestOrg> {
    const { orgId } = await createOrganization(this.core, name)
    return new TestOrg(this, orgId, name)
  }

  /** A request without a token. */
  anonymous(method: string, path: string, options: Parameters<typeof send>[3] = {}): Promise<Reply> {
    return send(this.url, method, path, options)
  }

  stop(): Promise<void> {
    return this.#close()
  }
}

export class TestOrg {
  readonly app: TestApp
  readonly orgId: number
  readonly name: string

  constructor(app: TestApp, orgId: number, name: string) {
    this.app = app
    this.orgId = orgId
    this.name = name
  }

  /** A caller with these scopes that never runs dry: it takes a fresh credential before its bucket is empty. */
  client(...scopes: string[]): Client {
    return new Client(this.app, this.orgId, scopes)
  }

  /** A caller with the five scopes of the contract. */
  get full(): Client {
    return this.client('assets:read', 'assets:write', 'locations:read', 'locations:write', 'tracking:read')
  }

  /** Makes a person and signs in; the reply's data holds the tokens. */
  async signIn(role: Role): Promise<{ email: string; password: string; accessToken: string; refreshToken: string }> {
    const email = `${role}-${Math.random().toString(36).slice(2)}@example.com`
    const password = 'correct horse battery'
    await createUser(this.app.core, this.orgId, { email, password, role })
    const reply = await this.app.anonymous('POST', '/api/v1/auth/login', { json: { email, password } })
    expect(reply.status).toBe(200)
    return { email, password, accessToken: reply.json.data.access_token, refreshToken: reply.json.data.refresh_token }
  }
}

const log = pino({ level: process.env['TEST_LOG'] ?? 'silent' })

type Opened = { port: number; close(): Promise<void> }

async function openServer(core: AppContext, options: AppOptions): Promise<Opened> {
  const server: RunningServer = await startServer(core, {
    host: '127.0.0.1',
    port: 0,
    isOneOfSeveral: options.isOneOfSeveral ?? false,
    log,
    ...(options.delivery === undefined ? {} : { delivery: options.delivery }),
    ...(options.tell === undefined ? {} : { notifyOperator: options.tell }),
  })
  return { port: server.port, close: () => server.close(1000) }
}

/**
 * With `TEST_PROCESSES=2` every app is two servers that take turns: the second one in a process of its own, or beside
 * the first one where it must have the test's own clock or be heard by the test.
 */
async function openSecond(url: string, settings: Record<string, string>, options: AppOptions): Promise<Opened | null> {
  const neighbourUrl = inject('neighbourUrl')
  if (neighbourUrl === null || options.beside !== undefined || options.alone !== undefined) return null
  const { clock, delivery, tell, onStatement } = options
  if ([clock, delivery, tell, onStatement].every((one) => one === undefined))
    return openBeside(neighbourUrl, url, settings)
  const core = await openAppContext({ config: readConfig(settings), url, ...(clock === undefined ? {} : { clock }) })
  const server = await openServer(core, options)
  return {
    port: server.port,
    async close() {
      await server.close()
      await core.close()
    },
  }
}

export async function startApp(options: AppOptions = {}): Promise<TestApp> {
  const database = options.beside === undefined ? await cloneDatabase() : null
  const databaseUrl = database?.url ?? options.beside!.databaseUrl
  const settings = {
    DATABASE_URL: databaseUrl,
    LASTSEEN_LOG_LEVEL: 'error',
    LASTSEEN_MQTT_PORT: '0',
    ...options.settings,
  }
  const watch = await watchStatements(databaseUrl)
  const core = await openAppContext({
    config: readConfig(settings),
    url: databaseUrl,
    onStatement: (statement) => {
      watch.onStatement(statement)
      options.onStatement?.(render(statement).text)
    },
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  })
  const server = await openServer(core, options)
  const second = await openSecond(databaseUrl, settings, options)
  const urls = [server, ...(second === null ? [] : [second])].map(({ port }) => `http://127.0.0.1:${port}`)
  return new TestApp(urls, core, databaseUrl, async () => {
    await Promise.all([server.close(), second?.close()])
    await core.close()
    await database?.drop()
    watch.save()
    saveAnswers()
    expect(watch.violations, 'statements outside the tenancy fence').toEqual([])
  })
}

/** Starts one app for the whole test file. */
export function useApp(options: AppOptions = {}): { readonly app: TestApp } {
  const holder: { app: TestApp } = { app: undefined as never }
  beforeAll(async () => {
    holder.app = await startApp(options)
  })
  afterAll(() => holder.app.stop())
  return holder
}
