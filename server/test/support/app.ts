import { type Logger, pino } from 'pino'
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
import { saveSeenResponses } from './openapi.ts'
import { openServerInSecondProcess } from './second-process.ts'
import { watchStatements } from './statements.ts'

export interface AppOptions {
  /** Settings as environment variables. */
  settings?: Record<string, string>
  clock?: Clock
  /** An app whose database this one uses too, as a second process does. */
  sharesDatabaseWith?: TestApp
  isOneOfSeveral?: boolean
  /** The reason why this app must be one server in runs with `TEST_PROCESSES=2`. */
  singleServerReason?: string
  /** Called with the text of every statement. */
  onStatement?: (text: string) => void
  /** Delivery options, for tests that cannot wait for the default intervals. */
  delivery?: ServerOptions['delivery']
  /** Receives the log. */
  log?: Logger
  /** Called with the lines that are meant for the operator. */
  notifyOperator?: (line: string) => void
}

/** The service on a real port with its own database. */
export class TestApp {
  readonly context: AppContext
  readonly databaseUrl: string
  readonly #urls: readonly string[]
  readonly #close: () => Promise<void>
  #nextUrl = 0

  constructor(urls: readonly string[], context: AppContext, databaseUrl: string, close: () => Promise<void>) {
    this.#urls = urls
    this.context = context
    this.databaseUrl = databaseUrl
    this.#close = close
  }

  /** The URL for the next request; two servers are used alternately. */
  get url(): string {
    return this.#urls[this.#nextUrl++ % this.#urls.length]!
  }

  async newOrg(name = 'Test organization'): Promise<TestOrg> {
    const { orgId } = await createOrganization(this.context, name)
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

  /** A client with these scopes that is never rate limited: it switches to a new credential before its bucket is empty. */
  client(...scopes: string[]): Client {
    return new Client(this.app, this.orgId, scopes)
  }

  /** A client with the five scopes of the contract. */
  get full(): Client {
    return this.client('assets:read', 'assets:write', 'locations:read', 'locations:write', 'tracking:read')
  }

  /** Creates a user with this role and signs in. */
  async signIn(role: Role): Promise<{ email: string; password: string; accessToken: string; refreshToken: string }> {
    const email = `${role}-${Math.random().toString(36).slice(2)}@example.com`
    const password = 'correct horse battery'
    await createUser(this.app.context, this.orgId, { email, password, role })
    const reply = await this.app.anonymous('POST', '/api/v1/auth/login', { json: { email, password } })
    expect(reply.status).toBe(200)
    return { email, password, accessToken: reply.json.data.access_token, refreshToken: reply.json.data.refresh_token }
  }
}

const defaultLog = pino({ level: process.env['TEST_LOG'] ?? 'silent' })

type Watch = Awaited<ReturnType<typeof watchStatements>>
type ListeningServer = { port: number; close(): Promise<void> }

async function openServer(context: AppContext, options: AppOptions): Promise<ListeningServer> {
  const server: RunningServer = await startServer(context, {
    host: '127.0.0.1',
    port: 0,
    isOneOfSeveral: options.isOneOfSeveral ?? false,
    log: options.log ?? defaultLog,
    ...(options.delivery === undefined ? {} : { delivery: options.delivery }),
    ...(options.notifyOperator === undefined ? {} : { notifyOperator: options.notifyOperator }),
  })
  return { port: server.port, close: () => server.close(1000) }
}

/**
 * With `TEST_PROCESSES=2` every app is two servers that are used alternately. The second server runs in another process,
 * or in the test's process if it needs the test's clock or callbacks.
 */
async function openSecond(
  url: string,
  settings: Record<string, string>,
  options: AppOptions,
  watch: Watch,
): Promise<ListeningServer | null> {
  const secondProcessUrl = inject('secondProcessUrl')
  if (secondProcessUrl === null || options.sharesDatabaseWith !== undefined || options.singleServerReason !== undefined)
    return null
  const { clock, delivery, notifyOperator, onStatement } = options
  if ([clock, delivery, notifyOperator, onStatement].every((one) => one === undefined))
    return openServerInSecondProcess(secondProcessUrl, url, settings, watch.check)
  const context = await openAppContext({
    config: readConfig(settings),
    url,
    onStatement: watch.onStatement,
    ...(clock === undefined ? {} : { clock }),
  })
  const server = await openServer(context, options)
  return {
    port: server.port,
    async close() {
      await server.close()
      await context.close()
    },
  }
}

export async function startApp(options: AppOptions = {}): Promise<TestApp> {
  const database = options.sharesDatabaseWith === undefined ? await cloneDatabase() : null
  const databaseUrl = database?.url ?? options.sharesDatabaseWith!.databaseUrl
  const settings = {
    DATABASE_URL: databaseUrl,
    LASTSEEN_LOG_LEVEL: 'error',
    LASTSEEN_MQTT_PORT: '0',
    ...options.settings,
  }
  const watch = await watchStatements(databaseUrl)
  const context = await openAppContext({
    config: readConfig(settings),
    url: databaseUrl,
    onStatement: (statement) => {
      watch.onStatement(statement)
      options.onStatement?.(render(statement).text)
    },
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  })
  const server = await openServer(context, options)
  const second = await openSecond(databaseUrl, settings, options, watch)
  const urls = [server, ...(second === null ? [] : [second])].map(({ port }) => `http://127.0.0.1:${port}`)
  return new TestApp(urls, context, databaseUrl, async () => {
    await Promise.all([server.close(), second?.close()])
    await context.close()
    await database?.drop()
    watch.save()
    saveSeenResponses()
    expect(watch.violations, 'statements without tenant isolation').toEqual([])
  })
}

/** Starts one app for the whole test file. */
export function useApp(options: AppOptions = {}): { readonly app: TestApp } {
  const fixture: { app: TestApp } = { app: undefined as never }
  beforeAll(async () => {
    fixture.app = await startApp(options)
  })
  afterAll(() => fixture.app.stop())
  return fixture
}

/** Starts one more server for the whole test file, on the database of the first one. */
export function useSecondApp(first: { readonly app: TestApp }, options: AppOptions = {}): { readonly app: TestApp } {
  const fixture: { app: TestApp } = { app: undefined as never }
  beforeAll(async () => {
    fixture.app = await startApp({ ...options, sharesDatabaseWith: first.app })
  })
  afterAll(() => fixture.app.stop())
  return fixture
}
