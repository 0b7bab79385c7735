import { beforeEach, describe, expect, it } from 'vitest'
import { stagedRows } from '../../../src/bulk/imports.sql.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import { expectApiError } from '../../support/error-response.ts'
import { ImportRun, counts } from '../../support/imports.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const context = useApp()
const database = useSnapshotDatabase(context)

let org: TestOrg
let token: string
beforeEach(async () => {
  org = await context.app.newOrg()
  token = (await org.signIn('manager')).accessToken
})

const begin = (kind = 'assets'): Promise<ImportRun> => new ImportRun(context.app, token).open(kind)
const size = (value: object): number => JSON.stringify(value).length
const kib = (count: number): string => 'x'.repeat(count * 1024)

describe('The rows of an import', () => {
  it('have at most 64 KiB each without the metadata; a larger row is an error of its line and is not stored', async () => {
    const run = await begin()
    await run.rows([
      { external_key: 'A', name: 'a', description: kib(64) },
      { external_key: 'B', name: 'b', metadata: { note: kib(63) } },
      { external_key: 'C', name: 'c', metadata: { note: kib(65) } },
    ])
    const checked = await run.check()
    expect(checked.errors.map(({ line, message }) => [line, message])).toEqual([
      [2, 'The row is larger than 65536 bytes'],
      [4, 'The metadata of the row is larger than 65536 bytes'],
    ])
    expect(counts(checked)).toEqual({ creates: 1, updates: 0, unchanged: 0, errors: 2 })
    const stored = await database.sql`
      select line::int, octet_length(content::text) > 1000 as is_large from import_rows
      where org_id = ${org.orgId} order by line`
    expect(stored.map((row) => [row['line'], row['is_large']])).toEqual([
      [2, false],
      [3, true],
      [4, false],
    ])
  })

  it('are measured exactly: a row without its metadata, and the metadata, may have 65,536 bytes of JSON', async () => {
    const run = await begin()
    const padded = (row: object, bytes: number): object => ({
      ...row,
      description: 'x'.repeat(bytes - size({ ...row, description: '' })),
    })
    const metadata = (bytes: number): object => ({ n: 'x'.repeat(bytes - size({ n: '' })) })
    await run.rows([
      padded({ external_key: 'A' }, 65_536),
      padded({ external_key: 'B' }, 65_537),
      { external_key: 'C', name: 'c', metadata: metadata(65_536) },
      { external_key: 'D', name: 'd', metadata: metadata(65_537) },
    ])
    const large = (await run.check()).errors.filter(({ message }) => message.includes('larger'))
    expect(large.map(({ line, message }) => [line, message])).toEqual([
      [3, 'The row is larger than 65536 bytes'],
      [5, 'The metadata of the row is larger than 65536 bytes'],
    ])
  })

  it('are read in batches of at most 1 MiB, however large they are', async () => {
    const run = await begin()
    const rows = Array.from({ length: 40 }, (_, at) => ({
      external_key: `K${at}`,
      name: 'a',
      metadata: { n: kib(60) },
    }))
    for (let start = 0; start < rows.length; start += 10) await run.rows(rows.slice(start, start + 10), start + 2)
    const pieces: number[] = []
    for (let after = 0; ;) {
      const piece = await stagedRows(context.app.context.db.read, org.orgId, run.id, after)
      if (piece.length === 0) break
      pieces.push(piece.length)
      expect(JSON.stringify(piece).length).toBeLessThan(1.1 * 1024 * 1024)
      after = piece.at(-1)!.line
    }
    expect(pieces.reduce((sum, one) => sum + one)).toBe(40)
    expect(pieces.length).toBeGreaterThan(2)
    expect(counts(await run.check())).toMatchObject({ creates: 40, errors: 0 })
    expect((await run.run()).state).toBe('done')
  })

  it('are at most 64 MiB together; a line that is sent again counts once', async () => {
    const run = await begin()
    const row = { external_key: 'A', name: 'a', metadata: { n: kib(60) } }
    await run.rows([row])
    await run.rows([row])
    const [stored] = await database.sql`select bytes::int from imports where id = ${run.id}`
    expect(stored!['bytes']).toBeLessThan(64 * 1024)
    expect((await run.get()).rows).toBe(1)
    const left = (bytes: number) => database.sql`
      update imports set bytes = ${64 * 1024 * 1024 - bytes} where id = ${run.id}`
    await left(stored!['bytes'] - 1)
    expectApiError(await run.post('rows', { rows: [{ ...row, line: 3 }] }), 'validation_error', {
      fields: [{ field: 'rows', code: 'too_large', params: { max: 64 * 1024 * 1024 } }],
    })
    await left(stored!['bytes'])
    await run.rows([row], 3)
    expect((await run.get()).rows).toBe(2)
  })

  it('attach at most 200,000 tags together; a row beyond them is an error of its line', async () => {
    const run = await begin()
    await database.sql`
      insert into import_rows (org_id, import_id, line, content, bytes)
      select ${org.orgId}, ${run.id}, n, json_build_object('external_key', 'T' || n, 'name', 't', 'tags',
        (select json_agg(json_build_object('tag_type', 'rfid', 'value', n || '-' || t))
          from generate_series(1, case when n > 2000 then 1 else 100 end) t)), 5000
      from generate_series(1, 2001) n`
    const checked = await run.check()
    expect(checked.errors).toEqual([
      { line: 2001, field: 'tags', message: 'An import attaches at most 200000 tags; split the file' },
    ])
    expect(counts(checked)).toMatchObject({ creates: 2000 })
  })

  it('are removed as soon as the import is done', async () => {
    const run = await (await begin()).rows([{ external_key: 'A', name: 'a' }])
    await run.check()
    expect(await run.run()).toMatchObject({ state: 'done', rows: 1, done_rows: 1 })
    expect((await database.sql`select from import_rows where org_id = ${org.orgId}`).length).toBe(0)
  })
})

describe('The errors of an import', () => {
  /** Stages rows with the lines 1 to `count`. `key` is an SQL expression of the line `n`. */
  const stage = async (run: ImportRun, count: number, key: string): Promise<void> => {
    await database.sql`
      insert into import_rows (org_id, import_id, line, content, bytes)
      select ${org.orgId}, ${run.id}, n, json_build_object(${database.sql.unsafe(key)}, 1), 61440
      from generate_series(1, ${count}) n`
  }
  const storedBytes = async (run: ImportRun): Promise<number> => {
    const [stored] = await database.sql`select octet_length(errors::text) as bytes from imports where id = ${run.id}`
    return stored!['bytes'] as number
  }

  it('are cut, so that 1,000 rows with a key of 60 KiB take little space', { timeout: 180_000 }, async () => {
    const run = await begin()
    await stage(run, 1000, `repeat('k', 61440)`)
    expect(await run.check()).toMatchObject({ state: 'checked', errors_total: 1000 })
    expect(await storedBytes(run)).toBeLessThan(1024 * 1024)
    const reply = await context.app.anonymous('GET', `/api/v1/imports/${run.id}`, { token })
    expect(Buffer.byteLength(reply.text)).toBeLessThan(256 * 1024)
    const [first] = reply.json.data.errors
    expect(first).toEqual({ line: 1, field: `${'k'.repeat(255)}…`, message: `${'k'.repeat(500)}…` })
    expect((await run.get()).errors).toHaveLength(200)
  })

  it.each([
    ['a field of 255 characters is kept', 255, 'x'.repeat(255)],
    ['a field of 256 characters is cut', 256, `${'x'.repeat(255)}…`],
  ])('%s', async (_name, length, field) => {
    const run = await begin()
    await stage(run, 1, `repeat('x', ${length})`)
    expect((await run.check()).errors[0]!.field).toBe(field)
  })

  it('are cut between characters, never within one', async () => {
    const run = await begin()
    await stage(run, 1, `repeat('\u{1F4E6}', 300)`)
    expect((await run.check()).errors[0]!.field).toBe(`${'\u{1F4E6}'.repeat(255)}…`)
  })

  it('are stored up to 1 MiB, and all of them are counted', async () => {
    const run = await begin()
    await stage(run, 2000, `repeat('k', 600) || n`)
    expect((await run.check()).errors_total).toBe(2000)
    const bytes = await storedBytes(run)
    expect(bytes).toBeLessThanOrEqual(1024 * 1024)
    expect(bytes).toBeGreaterThan(1024 * 1024 - 2000)
  })
})

describe('An import of many locations', () => {
  it('accepts children before their parents, over several batches', async () => {
    const run = await begin('locations')
    const last = 1200
    await run.rows(
      Array.from({ length: last }, (_, at) => ({
        external_key: `L${at}`,
        name: `Location ${at}`,
        description: 'd'.repeat(1000),
        // Every parent comes after its children, so often in another batch.
        ...(at === last - 1 ? {} : { parent_external_key: `L${Math.min(last - 1, at + 400)}` }),
      })).slice(0, 600),
    )
    await run.rows(
      Array.from({ length: last - 600 }, (_, at) => ({
        external_key: `L${at + 600}`,
        name: `Location ${at + 600}`,
        ...(at + 600 === last - 1 ? {} : { parent_external_key: `L${Math.min(last - 1, at + 1000)}` }),
      })),
      602,
    )
    expect(counts(await run.check())).toEqual({ creates: last, updates: 0, unchanged: 0, errors: 0 })
    expect(await run.run()).toMatchObject({ state: 'done', creates: last })
    const rows = await database.sql`
      select count(*)::int as placed from locations l join locations p on p.org_id = l.org_id and p.id = l.parent_id
      where l.org_id = ${org.orgId}`
    expect(rows[0]!['placed']).toBe(last - 1)
  })
})
