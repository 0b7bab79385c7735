import postgres from 'postgres'
import { afterAll, beforeAll, expect } from 'vitest'
import { makeMonths } from '../../src/db/schema/partitions.ts'
import { type Instant, parseRfc3339 } from '../../src/kernel/instant.ts'
import { recordOperatorSighting } from '../../src/tracking/recording/record-operator-sighting.ts'
import { createReader } from '../../src/readers/commands.ts'
import type { Smoothing } from '../../src/readers/reader.ts'
import { type AppOptions, type TestApp, type TestOrg, useApp } from './app.ts'
import type { Client, Reply } from './client.ts'

/** A clock that only the test sets. */
export class TestClock {
  #millis: number

  constructor(start: string) {
    this.#millis = Date.parse(start)
  }

  millis = (): number => this.#millis

  set(text: string): void {
    this.#millis = Date.parse(text)
  }

  advance(millis: number): void {
    this.#millis += millis
  }
}

/** Direct database connections by app; they are closed with the app. */
const connections = new Map<TestApp, postgres.Sql>()

export function database(app: TestApp): postgres.Sql {
  const known = connections.get(app)
  if (known !== undefined) return known
  const number = { to: 20, from: [20, 21, 23], serialize: String, parse: Number }
  const made = postgres(app.databaseUrl, { max: 2, onnotice: () => undefined, types: { number } })
  connections.set(app, made)
  return made
}

/** Starts an app with a fixed clock and partitions for the months around it. */
export function useTracking(
  start: string,
  options: AppOptions = {},
): { readonly app: TestApp; readonly clock: TestClock } {
  const clock = new TestClock(start)
  const context = useApp({ clock, ...options })
  beforeAll(async () => {
    await makeMonths(context.app.databaseUrl, Date.parse(start), 430)
  })
  afterAll(() => closeDatabase(context.app))
  return {
    get app() {
      return context.app
    },
    clock,
  }
}

export async function closeDatabase(app: TestApp): Promise<void> {
  await connections.get(app)?.end({ timeout: 5 })
  connections.delete(app)
}

export const instant = (text: string): Instant => {
  const parsed = parseRfc3339(text)
  if (parsed === null) throw new Error(`not an instant: ${text}`)
  return parsed.instant
}

export interface SiteLocation {
  id: number
  key: string
  name: string
}

export interface SiteAsset extends SiteLocation {
  tag: string
  tagId: number
}

export interface MoveRow {
  asset: string
  name: string
  from: string | null
  to: string
  at: string
}

export interface ReadJson {
  tag: string
  antenna?: number
  observed_at?: string
  [more: string]: unknown
}

let tags = 0
/** Returns an unused EPC. */
export const newTag = (): string => `E280${String(++tags).padStart(20, '0')}`

/** An organization with locations, a reader whose antennas 1, 2, … are assigned to them, and assets with one tag each. */
export class Site {
  readonly app: TestApp
  readonly org: TestOrg
  readonly api: Client
  readonly locations: SiteLocation[] = []
  token = ''
  readerId = 0

  private constructor(org: TestOrg) {
    this.app = org.app
    this.org = org
    this.api = org.full
  }

  static async open(app: TestApp, ...locationNames: string[]): Promise<Site> {
    const site = new Site(await app.newOrg())
    for (const name of locationNames) site.locations.push(await site.createLocation(name))
    const scanPoints = site.locations.map((location, index) => ({ antenna: index + 1, locationId: location.id }))
    Object.assign(site, await site.createReader({ scanPoints }))
    return site
  }

  async createLocation(name: string, more: object = {}): Promise<SiteLocation> {
    const reply = await this.api.post('/api/v1/locations', { name, external_key: name.toUpperCase(), ...more })
    expect(reply.status).toBe(201)
    return { id: reply.json.data.id, key: reply.json.data.external_key, name }
  }

  async createAsset(name: string, more: object = {}): Promise<SiteAsset> {
    const tag = newTag()
    const json = { name, external_key: name.toUpperCase(), tags: [{ tag_type: 'rfid', value: tag }], ...more }
    const reply = await this.api.post('/api/v1/assets', json)
    expect(reply.status).toBe(201)
    return { id: reply.json.data.id, key: reply.json.data.external_key, name, tag, tagId: reply.json.data.tags[0]?.id }
  }

  async createReader(
    draft: Partial<{
      format: string
      clock: string
      smoothing: Smoothing | null
      scanPoints: { antenna: number; locationId: number | null }[]
    }> = {},
  ): Promise<{ token: string; readerId: number }> {
    const whole = { name: 'Gate', format: 'auto', clock: 'reader', scanPoints: [], ...draft }
    const { reader, token } = await createReader(this.app.context, this.org.orgId, whole)
    return { token, readerId: reader.id }
  }

  /** Sends a message of the reader unchanged. */
  post(json: unknown, token = this.token, app = this.app): Promise<Reply> {
    return app.anonymous('POST', '/ingest/v1/reads', { token, json })
  }

  /** Sends reads and expects that all of them are accepted. */
  async sendReads(...reads: ReadJson[]): Promise<void> {
    const reply = await this.post({ reads })
    expect(reply.status).toBe(202)
    expect(reply.json).toEqual({ data: { accepted: reads.length, ignored: 0 } })
  }

  /** Records that an operator saw the assets at the location. */
  recordSighting(location: { id: number }, assets: readonly { id: number }[], at: string) {
    const ids = assets.map((thing) => thing.id)
    return this.app.context.db.withTenant(this.org.orgId, (tx) =>
      recordOperatorSighting(tx, this.org.orgId, location.id, ids, instant(at)),
    )
  }

  /** The asset's history as `[event_observed_at, location key, duration]`, oldest first. */
  async history(thing: { id: number }): Promise<[string, string | null, number | null][]> {
    const reply = await this.api.get(`/api/v1/assets/${thing.id}/history`, { sort: 'event_observed_at', limit: 200 })
    expect(reply.status).toBe(200)
    expect(reply.json.total_count).toBe(reply.json.data.length)
    return reply.json.data.map((row: Record<string, never>) => [
      row['event_observed_at'],
      row['location_external_key'],
      row['duration_seconds'],
    ])
  }

  /** The report as asset key → `[location key, asset_last_seen]`. */
  async assetLocations(
    query: Record<string, string | number | boolean> = {},
  ): Promise<Record<string, [string | null, string]>> {
    const reply = await this.api.get('/api/v1/reports/asset-locations', { limit: 200, ...query })
    expect(reply.status).toBe(200)
    expect(reply.json.total_count).toBe(reply.json.data.length)
    return Object.fromEntries(
      reply.json.data.map((row: Record<string, never>) => [
        row['asset_external_key'],
        [row['location_external_key'], row['asset_last_seen']],
      ]),
    )
  }

  /** The recorded moves, in the order of the observations. */
  async moves(): Promise<MoveRow[]> {
    return database(this.app)<MoveRow[]>`
      select asset_external_key as asset, asset_name as name, from_location_name as "from", to_location_name as "to",
        to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
      from moves where org_id = ${this.org.orgId} order by occurred_at, recorded_at, delivery_id`.then((rows) => [
      ...rows,
    ])
  }
}

interface FieldError {
  field: string
  code: string
  params?: Record<string, string | number>
}

/** Checks status and type of an error and, for a validation error, the field, code and params of each entry. */
export function expectApiError(reply: Reply, status: number, type: string, problems?: readonly FieldError[]): void {
  expect([reply.status, reply.json?.error?.type]).toEqual([status, type])
  expect(reply.json.error.status).toBe(status)
  expect(reply.json.error.request_id).toBe(reply.headers['x-request-id'])
  const fields = reply.json.error.fields?.map(({ message, ...rest }: FieldError & { message: string }) => {
    expect(typeof message).toBe('string')
    return rest
  })
  expect(fields).toEqual(problems)
}

/** Repeats the check until it passes, for data that is written asynchronously. */
export async function eventually(check: () => Promise<void>, withinMs = 8000): Promise<void> {
  const end = Date.now() + withinMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise((resume) => setTimeout(resume, 50))
    }
  }
}
