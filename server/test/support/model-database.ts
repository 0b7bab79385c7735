import postgres from 'postgres'
import { expect } from 'vitest'
import { type AppContext, openAppContext } from '../../src/app/context.ts'
import { readConfig } from '../../src/config/config.ts'
import { makeMonths } from '../../src/db/schema/partitions.ts'
import { type TestDatabase, cloneDatabase } from './database.ts'
import { watchStatements } from './statements.ts'
import { TrackingModel } from './tracking-model.ts'

export const locationIds = [1, 2, 3]
export const assetIds = [11, 12, 13]
export const readerIds = [21, 22]
export const tagNames = ['T-1', 'T-2', 'T-3', 'T-4']
const tagOwners = [11, 12, 13, 11]
const points: [reader: number, antenna: number, locationId: number][] = [
  [21, 1, 1],
  [21, 2, 2],
  [22, 1, 3],
  [22, 2, 1],
]

const startMs = Date.parse('2026-05-04T10:00:00Z')

/** The same initial data in memory. */
export const newModel = (): TrackingModel =>
  new TrackingModel({
    now: startMs * 1000,
    assets: assetIds.map((id) => ({ id, key: `A${id}`, name: `Thing ${id}` })),
    locations: locationIds.map((id) => ({ id, key: `L${id}`, name: `Location ${id}` })),
    tags: tagNames.map((tag, index) => [tag, tagOwners[index]!]),
    antennas: points.map(([reader, antenna, location]) => [`${reader} ${antenna}`, location]),
  })

/** A database with many identical organizations, each used for one run. */
export class ModelDatabase {
  readonly context: AppContext
  readonly sql: postgres.Sql
  readonly clock: { nowMs: number }
  readonly #database: TestDatabase
  readonly #violations: readonly string[]
  #next = 1_000_000
  #made = 1_000_000

  private constructor(
    context: AppContext,
    sql: postgres.Sql,
    clock: { nowMs: number },
    database: TestDatabase,
    violations: readonly string[],
  ) {
    this.context = context
    this.sql = sql
    this.clock = clock
    this.#database = database
    this.#violations = violations
  }

  static async open(): Promise<ModelDatabase> {
    const database = await cloneDatabase()
    const sql = postgres(database.url, { max: 2, onnotice: () => undefined })
    // No data outlives the run, so commits need not wait for the disk.
    await sql.unsafe(`alter database ${new URL(database.url).pathname.slice(1)} set synchronous_commit = off`)
    await makeMonths(database.url, startMs, 430)
    const watch = await watchStatements(database.url)
    const clock = { nowMs: startMs, millis: (): number => clock.nowMs }
    const config = readConfig({ DATABASE_URL: database.url, LASTSEEN_LOG_LEVEL: 'error' })
    const context = await openAppContext({
      config,
      url: database.url,
      clock,
      onStatement: (statement) => watch.onStatement(statement),
    })
    return new ModelDatabase(context, sql, clock, database, watch.violations)
  }

  async close(): Promise<void> {
    await this.context.close()
    await this.sql.end({ timeout: 5 })
    await this.#database.drop()
    expect(this.#violations, 'statements without tenant isolation').toEqual([])
  }

  /** Returns an organization without history and sets the clock back to the start. */
  async unusedOrg(): Promise<number> {
    if (this.#next === this.#made) await this.#makeOrgs(200)
    this.clock.nowMs = startMs
    return this.#next++
  }

  async #makeOrgs(count: number): Promise<void> {
    const { sql } = this
    const from = this.#made
    this.#made += count
    const orgs = sql`generate_series(${from}::bigint, ${this.#made - 1}::bigint) org`
    const past = '2026-01-01 00:00:00+00'
    await sql`insert into organizations (org_id, created_at) select org, now() from ${orgs}`
    await sql`
      insert into locations (org_id, id, external_key, name, is_active, valid_from, created_at, updated_at, search_text)
      select org, id, 'L' || id, 'Location ' || id, true, ${past}, ${past}, ${past}, ''
      from ${orgs}, unnest(${locationIds}::bigint[]) id`
    await sql`
      insert into assets (org_id, id, external_key, name, metadata, is_active, valid_from, created_at, updated_at,
        search_text)
      select org, id, 'A' || id, 'Thing ' || id, '{}', true, ${past}, ${past}, ${past}, ''
      from ${orgs}, unnest(${assetIds}::bigint[]) id`
    await sql`
      insert into tags (org_id, id, asset_id, tag_type, value, normalized_value, created_at)
      select org, 30 + position, asset_id, 'barcode', value, value, now()
      from ${orgs}, unnest(${tagNames}::text[], ${tagOwners}::bigint[]) with ordinality t (value, asset_id, position)`
    await sql`
      insert into readers (org_id, id, name, format, clock, token_hash, topic_key, created_at, messages, reads, ignored)
      select org, id, 'Reader', 'generic', 'reader', ''::bytea, '', now(), 0, 0, 0
      from ${orgs}, unnest(${readerIds}::bigint[]) id`
    await sql`
      insert into scan_points (org_id, reader_id, antenna, location_id)
      select org, reader_id, antenna, location_id
      from ${orgs}, unnest(${points.map(([reader]) => reader)}::bigint[],
        ${points.map(([, antenna]) => antenna)}::int[], ${points.map(([, , location]) => location)}::bigint[]
      ) p (reader_id, antenna, location_id)`
  }
}
