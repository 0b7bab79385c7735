import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAsset } from '../../src/assets/commands.ts'
import { type AppContext, openAppContext } from '../../src/app/context.ts'
import { webhookDeps } from '../../src/app/webhooks.ts'
import { readConfig } from '../../src/config/config.ts'
import { type Connection, createDatabase } from '../../src/db/create-database.ts'
import { type Sql, sql } from '../../src/db/sql.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import { createLocation } from '../../src/locations/commands.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { type Recorded } from '../../src/tracking/recording/recording.sql.ts'
import { recordReads } from '../../src/tracking/recording/record-reads.ts'
import { createReader } from '../../src/readers/commands.ts'
import { createWebhook } from '../../src/webhooks/commands.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { eventually } from '../support/tracking.ts'

const draft = { description: null, isActive: true, validTo: null, tags: [] }
const begin = Date.now() - 3_600_000

let database: TestDatabase
let admin: postgres.Sql
let context: AppContext
let proxy: TcpProxy
let db: Connection
let orgId: number
let readerId: number

beforeAll(async () => {
  database = await cloneDatabase()
  admin = postgres(database.url, { max: 1, onnotice: () => undefined })
  context = await openAppContext({ config: readConfig({ DATABASE_URL: database.url }), url: database.url })
  orgId = (await createOrganization(context, 'Counting')).orgId
  const scanPoints: { antenna: number; locationId: number }[] = []
  for (const antenna of [1, 2]) {
    const location = await createLocation(context, orgId, { ...draft, name: `Location ${antenna}`, parent: {} })
    scanPoints.push({ antenna, locationId: location.id })
  }
  const reader = { name: 'Gate', format: 'auto', clock: 'reader', smoothing: null, scanPoints }
  readerId = (await createReader(context, orgId, reader)).reader.id
  await createWebhook(webhookDeps(context), orgId, { url: 'https://example.com/', isEnabled: true })
  for (const value of ['A', 'B', 'C'])
    await createAsset(context, orgId, { ...draft, name: value, metadata: {}, tags: [{ type: 'barcode', value }] })
  proxy = new TcpProxy(database.url)
  await proxy.open()
  db = createDatabase({ url: proxy.url, poolSize: 1 })
})
afterAll(async () => {
  await db.close()
  await proxy.close()
  await context.close()
  await admin.end({ timeout: 5 })
  await database.drop()
})

/** Records that the tags were seen in a minute, and returns the number of statements and round trips. */
async function roundTripsOf(minute: number, antenna: number, ...tags: string[]): Promise<[turns: number, Recorded]> {
  const before = proxy.roundTrips
  const observedAt = instantFromMillis(begin + minute * 60_000)
  const reads = tags.map((value) => ({
    identities: [{ type: 'barcode' as const, value }],
    readerId,
    antenna,
    rssiDbm: null,
    observedAt,
  }))
  const recorded = await recordReads({ db, clock: context.clock }, orgId, reads)
  return [proxy.roundTrips - before, recorded]
}

describe('A batch of reads is one round trip to the database', () => {
  // The first call on a connection prepares the statement, which takes a further round trip.
  beforeAll(() => roundTripsOf(0, 1, 'A'))

  it.each<[string, Parameters<typeof roundTripsOf>, number]>([
    ['when nothing in it is new', [0, 1, 'A', 'A'], 0],
    ['when nothing in it is known', [0, 1, 'X'], 0],
    ['when it makes new minutes', [1, 1, 'A'], 0],
    ['when assets in it moved', [2, 2, 'A'], 1],
    ['when assets in it were never seen before', [2, 2, 'A', 'B', 'C', 'X'], 2],
  ])('%s', async (_when, given, moves) => {
    const [turns, recorded] = await roundTripsOf(...given)
    expect([turns, recorded.moves]).toEqual([1, moves])
  })

  it('and everything is stored afterwards', async () => {
    const [counts] = await admin`
      select (select count(*)::int from asset_minutes where org_id = ${orgId}) as minutes,
        (select count(*)::int from asset_positions where org_id = ${orgId}) as positions,
        (select count(*)::int from moves where org_id = ${orgId}) as moves,
        (select count(*)::int from webhook_outbox where org_id = ${orgId}) as due`
    expect(counts).toEqual({ minutes: 5, positions: 3, moves: 4, due: 4 })
  })
})

describe('A new asset is one round trip to the database', () => {
  const draft = (externalKey: string, ...values: string[]) => ({
    ...{ externalKey, name: externalKey, description: '', isActive: true, validTo: null, metadata: {} },
    tags: values.map((value) => ({ type: 'barcode' as const, value })),
  })
  const make = (...given: Parameters<typeof draft>) =>
    createAsset({ db, clock: context.clock, ids: context.ids, quotas: context.quotas }, orgId, draft(...given))
  const roundTripsOf = async (...given: Parameters<typeof draft>) => {
    const before = proxy.roundTrips
    const conflict = await make(...given).then(
      () => null,
      (error: unknown) => (error as Error).message,
    )
    return [proxy.roundTrips - before, conflict]
  }
  const written = async () => {
    const [counts] = await admin`
      select (select count(*)::int from assets where org_id = ${orgId}) as assets,
        (select count(*)::int from tags where org_id = ${orgId}) as tags,
        (select sum(active)::int from record_counts where org_id = ${orgId} and kind = 'asset') as counted`
    return counts
  }
  // Warms up: the connection prepares the statements and reserves blocks of ids.
  beforeAll(() => make('T0', 'T0'))

  it('whether it succeeds or not, and a failed create stores nothing', async () => {
    expect(await roundTripsOf('T1', 'T1', 'T1 too')).toEqual([1, null])
    expect(await roundTripsOf('T2')).toEqual([1, null])
    const before = await written()
    expect(before!['counted']).toBe(before!['assets'])
    expect(await roundTripsOf('T1', 'T3')).toEqual([1, 'Asset with this external_key already exists'])
    expect(await roundTripsOf('T3', 'T3', 'T1')).toEqual([1, 'A tag with this type and value already exists'])
    expect(await roundTripsOf('T1', 'T1')).toEqual([1, 'Asset with this external_key already exists'])
    expect(await written()).toEqual(before)
    expect(await roundTripsOf('T3', 'T3')).toEqual([1, null])
  })
})

describe('A pipelined tenant transaction', () => {
  const call = (statement: Sql) => db.withTenantPipelined(orgId, (tx) => tx.query(statement))
  const stray = sql`insert into key_counters (org_id, kind, last) values (${1}, 'call', ${1})`

  it('reads and writes only that organization', async () => {
    const seen = await call(sql`select distinct org_id from assets`)
    expect(seen).toEqual([{ org_id: orgId }])
    await expect(call(stray)).rejects.toMatchObject({ code: '42501' })
  })

  it('rejects an organization id that is no integer, before anything is sent', () => {
    const before = proxy.roundTrips
    for (const bad of [NaN, 1.5, '1; drop table assets' as never, undefined as never])
      expect(() => db.withTenantPipelined(bad, (tx) => tx.query(sql`select 1`))).toThrow(TypeError)
    expect(proxy.roundTrips).toBe(before)
  })

  it('that fails stores nothing and leaves its connection usable', async () => {
    const count = async () => (await admin`select from key_counters where kind = 'failed'`).length
    const failing = sql`
      with made as (insert into key_counters (org_id, kind, last) values (${orgId}, 'failed', 1) returning last)
      select 1 / (last - 1) from made`
    for (let times = 0; times < 3; times++) await expect(call(failing)).rejects.toMatchObject({ code: '22012' })
    expect(await count()).toBe(0)
    await expect(call(sql`select 1 as one`)).resolves.toEqual([{ one: 1 }])
  })

  it('of several statements is atomic', async () => {
    const count = async (kind: string) => (await admin`select from key_counters where kind like ${kind}`).length
    const note = (kind: string) => sql`insert into key_counters (org_id, kind, last) values (${orgId}, ${kind}, ${1})`
    const both = (...kinds: string[]) =>
      db.withTenantPipelined(orgId, (tx) => Promise.all(kinds.map((kind) => tx.query(note(kind)))))
    await both('first', 'second')
    await expect(both('third', 'second', 'fourth')).rejects.toMatchObject({ code: '23505' })
    expect([await count('first'), await count('second'), await count('third'), await count('fourth')]).toEqual([
      1, 1, 0, 0,
    ])
  })

  it('accepts no statement once the first was awaited', async () => {
    const waiting = db.withTenantPipelined(orgId, async (tx) => {
      await tx.query(sql`select 1`)
      await tx.query(sql`select 1`)
    })
    await expect(waiting).rejects.toThrow('a statement came after the commit')
    await expect(call(sql`select 1 as one`)).resolves.toEqual([{ one: 1 }])
  })

  it.each([
    ['LS001', 4],
    ['40P01', 4],
    ['40001', 4],
    ['22012', 1],
  ])('that keeps failing with %s is tried %i times', async (code, tries) => {
    await admin.unsafe(`
      create sequence if not exists tries;
      grant usage on sequence tries to public;
      create or replace function fail(code text) returns void language plpgsql as $$
        begin perform nextval('tries'); raise exception 'no' using errcode = code; end $$`)
    const [before] = await admin`select nextval('tries')::int as value`
    await expect(call(sql`select fail(${code}::text)`)).rejects.toMatchObject({ code })
    const [after] = await admin`select nextval('tries')::int as value`
    expect(after!['value'] - before!['value']).toBe(tries + 1)
  })

  it('fails with its connection, and the next one uses another connection', async () => {
    const waiting = expect(call(sql`select pg_sleep(${60})`)).rejects.toThrow('Connection terminated unexpectedly')
    await eventually(async () => {
      const asleep = await admin`
        select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
      expect(asleep).toHaveLength(1)
    })
    proxy.dropConnections()
    await waiting
    await expect(call(sql`select 1 as one`)).resolves.toEqual([{ one: 1 }])
  })

  it('is given up when the database does not answer in time', async () => {
    const impatient = createDatabase({ url: proxy.url, poolSize: 1, timeoutMs: 3000 })
    const one = sql`select 1 as one`
    const call = () => impatient.withTenantPipelined(orgId, (tx) => tx.query(one))
    await call()
    proxy.isDroppingData = true
    await expect(call()).rejects.toThrow('Query read timeout')
    proxy.isDroppingData = false
    expect(await call()).toEqual([{ one: 1 }])
    await impatient.close()
  })
})
