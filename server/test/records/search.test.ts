import fc from 'fast-check'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { listAssets } from '../../src/assets/assets.sql.ts'
import { type Connection, createDatabase } from '../../src/db/create-database.ts'
import { sql } from '../../src/db/sql.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import { foldCase, searchText } from '../../src/records/record.ts'
import { indexedParts } from '../../src/records/search-term.sql.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { propertyRuns } from '../support/rounds.ts'

interface Named {
  key: string
  name: string
  tag: string
}

const [organization, neighbour] = [1, 2]
const words = ['Forklift', 'Roll cage', 'ŁÓDŹ straße', 'ΟΔΟΣ', 'İstanbul', '東京都庁', '100%_', 'a\\b', '🚚🚚🚚', 'x']
const hex = (n: number): string => n.toString(16).toUpperCase().padStart(8, '0')

/** Names repeat, numbers do not: 20,000 assets, so that the lists of their common trigrams have several pages. */
const assets: Named[] = Array.from({ length: 20_000 }, (_, n) => ({
  key: `EQ-${String(n * 7).padStart(7, '0')}`,
  name: `${words[n % words.length]} ${1_000_000 + n}`,
  tag: `E28011700000${hex(n * 31)}`,
}))
const texts = assets.map((asset) =>
  searchText({ externalKey: asset.key, name: asset.name, description: null }, [{ type: 'rfid', value: asset.tag }]),
)

let database: TestDatabase
let admin: postgres.Sql
let db: Connection

beforeAll(async () => {
  database = await cloneDatabase()
  admin = postgres(database.url, { max: 1, onnotice: () => undefined })
  for (const orgId of [organization, neighbour]) {
    await admin`insert into organizations (org_id, created_at) values (${orgId}, now())`
    await admin`
      insert into assets (org_id, id, external_key, name, metadata, is_active, valid_from, created_at, updated_at,
        search_text)
      select ${orgId}, u.n, u.key, u.name, '{}', true, now(), now(), now(), u.text
      from unnest(${assets.map(({ key }) => key)}::text[], ${assets.map(({ name }) => name)}::text[], ${texts}::text[])
        with ordinality as u (key, name, text, n)`
  }
  await admin`vacuum analyze assets`
  // The planner may otherwise scan a table that is as small as this one.
  const name = new URL(database.url).pathname.slice(1)
  for (const setting of ['enable_seqscan', 'enable_indexscan'])
    await admin.unsafe(`alter database "${name}" set ${setting} = off`)
  db = createDatabase({ url: database.url, poolSize: 1 })
})
afterAll(async () => {
  await db.close()
  await admin.end({ timeout: 5 })
  await database.drop()
})

const search = (q: string) =>
  listAssets(db.searches(organization), organization, {
    filter: { q },
    sort: [{ field: 'external_key', descending: false }],
    limit: 200,
    offset: 0,
    now: instantFromMillis(Date.now() + 60_000),
  })

const matching = (q: string): string[] =>
  assets.filter((_, index) => texts[index]!.includes(foldCase(q))).map(({ key }) => key)

/** The blocks of the search index that the work reads. */
async function indexBlocksRead(work: () => Promise<unknown>): Promise<number> {
  const count = async (): Promise<number> => {
    await db.searches(organization).query(sql`select pg_stat_force_next_flush()`)
    const [row] = await admin`
      select (idx_blks_read + idx_blks_hit)::int as blocks from pg_statio_user_indexes where indexrelname = 'assets_by_text'`
    return row!['blocks'] as number
  }
  const before = await count()
  await work()
  return (await count()) - before
}

describe('indexedParts', () => {
  it.each([
    ['a number before a word', 'forklift 10004', ['10004', 'rklift', 'forklift']],
    ['the end of a long code before the whole code', 'e28011700000004a', ['00004a', 'e28011700000004a']],
    ['no part twice', 'jack jack', ['jack']],
    ['at most four parts', 'one two four fifth', ['fifth', 'four', 'one', 'two']],
    ['no part of fewer than three letters or digits', 'a-12_b', []],
    ['letters of any script, counted in code points', '𝒜𝒜𝒜𝒜𝒜𝒜𝒜 жук', ['𝒜𝒜𝒜𝒜𝒜𝒜', 'жук', '𝒜𝒜𝒜𝒜𝒜𝒜𝒜']],
  ])('has %s', (_what, term, parts) => {
    expect(indexedParts(term)).toEqual(parts)
  })
})

describe('A search by the index', () => {
  it('finds exactly the assets whose texts contain the term, as a scan of all texts does (D26)', async () => {
    const anyText = fc.constantFrom(...texts)
    const piece = fc.tuple(anyText, fc.nat(), fc.integer({ min: 3, max: 24 })).map(([text, from, length]) => {
      const points = Array.from(text)
      const start = from % points.length
      return points.slice(start, start + length).join('')
    })
    // Also terms that nearly match: two pieces in one term, another case, one more character.
    const term = fc.oneof(
      piece,
      piece.map((text) => text.toUpperCase()),
      fc.tuple(piece, piece).map(([one, other]) => `${one} ${other}`),
      fc.tuple(piece, fc.constantFrom('%', '_', '\\', ' ', '7', 'Σ')).map(([text, last]) => text + last),
    )
    const separator = '\u0001'
    await fc.assert(
      fc.asyncProperty(term, async (given) => {
        const q = given.replaceAll(separator, ' ')
        const expected = matching(q)
        const { rows, total } = await search(q)
        expect(total, q).toBe(expected.length)
        expect(rows.map((row) => row.externalKey)).toEqual(expected.slice(0, 200))
      }),
      { numRuns: propertyRuns(400) },
    )
  })

  // On Citus the index is on other nodes.
  it.skipIf(inject('isCitus'))('does not read the lists of frequent trigrams completely', async () => {
    const blocks = (q: string) => indexBlocksRead(async () => expect((await search(q)).total).toBe(1))
    await blocks('forklift 1012340')
    expect(await blocks('forklift 1012340')).toBeLessThan(55)
    expect(await blocks(assets[4321]!.tag)).toBeLessThan(85)
  })
})
