import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAsset } from '../../src/assets/commands.ts'
import { type Core, openCore } from '../../src/app/core.ts'
import { webhookNeeds } from '../../src/app/webhooks.ts'
import { readConfig } from '../../src/config/config.ts'
import { type Connection, connect } from '../../src/db/connect.ts'
import { sql } from '../../src/db/sql.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import { createLocation } from '../../src/locations/commands.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { type Recorded } from '../../src/tracking/recording.sql.ts'
import { recordReads } from '../../src/pipeline/record-reads.ts'
import { createReader } from '../../src/readers/commands.ts'
import { createWebhook } from '../../src/webhooks/commands.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { Passage } from '../support/passage.ts'
import { eventually } from '../support/tracking.ts'

const draft = { description: null, isActive: true, validTo: null, tags: [] }
const begin = Date.now() - 3_600_000

let database: TestDatabase
let admin: postgres.Sql
let core: Core
let passage: Passage
let db: Connection
let orgId: number
let readerId: number

beforeAll(async () => {
  database = await cloneDatabase()
  admin = postgres(database.url, { max: 1, onnotice: () => undefined })
  core = await openCore({ config: readConfig({ DATABASE_URL: database.url }), url: database.url })
  orgId = (await createOrganization(core, 'Counting')).orgId
  const scanPoints: { antenna: number; locationId: number }[] = []
  for (const antenna of [1, 2]) {
    const place = await createLocation(core, orgId, { ...draft, name: `Place ${antenna}`, parent: {} })
    scanPoints.push({ antenna, locationId: place.id })
  }
  const reader = { name: 'Gate', format: 'auto', clock: 'reader', smoothing: null, scanPoints }
  readerId = (await createReader(core, orgId, reader)).reader.id
  await createWebhook(webhookNeeds(core), orgId, { url: 'https://example.com/', isEnabled: true })
  for (const value of ['A', 'B', 'C'])
    await createAsset(core, orgId, { ...draft, name: value, metadata: {}, tags: [{ type: 'barcode', value }] })
  passage = new Passage(database.url)
  await passage.open()
  db = connect({ url: passage.url, poolSize: 1 })
})
afterAll(async () => {
  await db.close()
  await passage.close()
  await core.close()
  await admin.end({ timeout: 5 })
  await database.drop()
})

/** Records that the tags were seen in a minute, and tells how often the database was asked and waited for. */
async function turnsOf(minute: number, antenna: number, ...tags: string[]): Promise<[turns: number, Recorded]> {
  const before = passage.turns
  const observedAt = instantFromMillis(begin + minute * 60_000)
  const reads = tags.map((value) => ({
    identities: [{ type: 'barcode' as const, value }],
    readerId,
    antenna,
    rssiDbm: null,
    observedAt,
  }))
  const recorded = await recordReads({ db, clock: core.clock }, orgId, reads)
  return [passage.turns - before, recorded]
}

describe('A batch of reads is one round trip to the database', () => {
  // The first call of a connection makes the database prepare the statement, which is asked for first.
  beforeAll(() => turnsOf(0, 1, 'A'))

  it.each<[string, Parameters<typeof turnsOf>, number]>([
    ['when nothing in it is new', [0, 1, 'A', 'A'], 0],
    ['when nothing in it is known', [0, 1, 'X'], 0],
    ['when it makes new minutes', [1, 1, 'A'], 0],
    ['when things in it moved', [2, 2, 'A'], 1],
    ['when things in it were never seen before', [2, 2, 'A', 'B', 'C', 'X'], 2],
  ])('%s', async (_when, given, moves) => {
    const [turns, recorded] = await turnsOf(...given)
    expect([turns, recorded.moves.length]).toEqual([1, moves])
  })

  it('and all of it is there afterwards', async () => {
    const [counts] = await admin`
      select (select count(*)::int from asset_minutes where org_id = ${orgId}) as minutes,
        (select count(*)::int from asset_positions where org_id = ${orgId}) as positions,
        (select count(*)::int from moves where org_id = ${orgId}) as moves,
        (select count(*)::int from due_moves where org_id = ${orgId}) as due`
    expect(counts).toEqual({ minutes: 5, positions: 3, moves: 4, due: 4 })
  })
})

describe('A call in an organization', () => {
  const stray = sql`insert into key_counters (org_id, kind, last) values (${1}, 'call', ${1})`

  it('sees and writes that organization alone', async () => {
    const seen = await db.callInOrganization(orgId, sql`select distinct org_id from assets`)
    expect(seen).toEqual([{ org_id: orgId }])
    await expect(db.callInOrganization(orgId, stray)).rejects.toMatchObject({ code: '42501' })
  })

  it('refuses an organization id that is no integer, before anything is sent', () => {
    const before = passage.turns
    for (const bad of [NaN, 1.5, '1; drop table assets' as never, undefined as never])
      expect(() => db.callInOrganization(bad, sql`select 1`)).toThrow(TypeError)
    expect(passage.turns).toBe(before)
  })

  it('that fails leaves nothing behind, and its connection clean for the next one', async () => {
    const count = async () => (await admin`select from key_counters where kind = 'failed'`).length
    const failing = sql`
      with made as (insert into key_counters (org_id, kind, last) values (${orgId}, 'failed', 1) returning last)
      select 1 / (last - 1) from made`
    for (let times = 0; times < 3; times++)
      await expect(db.callInOrganization(orgId, failing)).rejects.toMatchObject({ code: '22012' })
    expect(await count()).toBe(0)
    await expect(db.callInOrganization(orgId, sql`select 1 as one`)).resolves.toEqual([{ one: 1 }])
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
    await expect(db.callInOrganization(orgId, sql`select fail(${code}::text)`)).rejects.toMatchObject({ code })
    const [after] = await admin`select nextval('tries')::int as value`
    expect(after!['value'] - before!['value']).toBe(tries + 1)
  })

  it('ends with the connection it runs on, and the next one has another', async () => {
    const lost = 'the connection to the database was lost during a transaction'
    const waiting = expect(db.callInOrganization(orgId, sql`select pg_sleep(${60})`)).rejects.toThrow(lost)
    await eventually(async () => {
      const asleep = await admin`
        select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
      expect(asleep).toHaveLength(1)
    })
    passage.cut()
    await waiting
    await expect(db.callInOrganization(orgId, sql`select 1 as one`)).resolves.toEqual([{ one: 1 }])
  })

  it('is given up when the database does not answer in time', async () => {
    const impatient = connect({ url: passage.url, poolSize: 1, patienceMs: 3000 })
    const call = () => impatient.callInOrganization(orgId, sql`select 1 as one`)
    await call()
    passage.isStopped = true
    await expect(call()).rejects.toThrow('was lost during a transaction')
    passage.isStopped = false
    expect(await call()).toEqual([{ one: 1 }])
    await impatient.close()
  })
})
