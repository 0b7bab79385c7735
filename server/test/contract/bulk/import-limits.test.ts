import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keepRetention } from '../../../src/jobs/retention.ts'
import { stagedRows } from '../../../src/bulk/imports.sql.ts'
import { type TestApp, type TestOrg, startApp, useApp } from '../../support/app.ts'
import { ManualClock } from '../../support/auth.ts'
import { expectApiError } from '../../support/error-response.ts'
import { ImportRun, counts } from '../../support/imports.ts'
import { create } from '../../support/master-data.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const clock = new ManualClock()
// A pool of one leaves two connections for transactions, so that requests are delayed if imports use them.
const context = useApp({ clock, settings: { LASTSEEN_DATABASE_POOL: '1' } })
const database = useSnapshotDatabase(context)
let second: TestApp
beforeAll(async () => {
  second = await startApp({ sharesDatabaseWith: context.app, clock })
})
afterAll(() => second.stop())

let org: TestOrg
let token: string
beforeEach(async () => {
  org = await context.app.newOrg()
  token = (await org.signIn('manager')).accessToken
})

const begin = (kind = 'assets', by = token): Promise<ImportRun> => new ImportRun(context.app, by).open(kind)
const size = (value: object): number => JSON.stringify(value).length
const kib = (count: number): string => 'x'.repeat(count * 1024)
const drop = (run: ImportRun) => context.app.anonymous('DELETE', `/api/v1/imports/${run.id}`, { token })

/** An import that runs until `release` is called: it waits for the lock of an asset that it changes. */
async function blockedRun(): Promise<{ run: ImportRun; release: () => Promise<void> }> {
  const asset = await create(org.full, 'assets', { external_key: 'HELD', name: 'before' })
  const run = await (await begin()).rows([{ external_key: 'HELD', name: 'after' }])
  await run.check()
  const lock = await database.sql.reserve()
  await lock`begin`
  await lock`select from assets where org_id = ${org.orgId} and id = ${asset.id} for update`
  expect((await run.post('run', { skip_errors: false })).status).toBe(202)
  await expect.poll(async () => (await run.get()).state).toBe('running')
  return {
    run,
    async release() {
      await lock`rollback`
      lock.release()
    },
  }
}

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

describe('Imports of one organization', () => {
  it('run one at a time: the next one has the state waiting and starts when the first one ends', async () => {
    const { run, release } = await blockedRun()
    const waiting = await (await begin()).rows([{ external_key: 'W', name: 'w' }])
    expect((await waiting.post('check')).status).toBe(202)
    expect(await waiting.get()).toMatchObject({ state: 'waiting', done_rows: 0 })
    expect(await waiting.get(second)).toMatchObject({ state: 'waiting' })
    for (const path of ['check', 'rows', 'run'])
      expectApiError(await waiting.post(path, path === 'rows' ? { rows: [] } : { skip_errors: true }), 'conflict')
    await release()
    expect((await waiting.waitUntilIdle()).state).toBe('checked')
    expect((await run.get()).state).toBe('done')
  })

  it('wait for each other in every process', async () => {
    const { run, release } = await blockedRun()
    const waiting = await (await begin()).rows([{ external_key: 'W', name: 'w' }])
    expect((await waiting.post('check', undefined, second)).status).toBe(202)
    expect((await waiting.get(second)).state).toBe('waiting')
    await release()
    expect((await waiting.waitUntilIdle()).state).toBe('checked')
    expect((await run.get()).state).toBe('done')
  })

  it('keep the check or the run they wait for, in the order in which they were asked for', async () => {
    const ready = await (await begin()).rows([{ external_key: 'R', name: 'r' }, { external_key: 'NO' }])
    await ready.check()
    const { release } = await blockedRun()
    expect((await ready.post('run', { skip_errors: true })).status).toBe(202)
    const checks = [await begin(), await begin()]
    for (const one of checks) {
      clock.advance(1)
      expect((await one.post('check')).status).toBe(202)
    }
    await release()
    for (const one of checks) expect((await one.waitUntilIdle()).state).toBe('checked')
    expect(await ready.get()).toMatchObject({ state: 'done', creates: 1 })
  })

  it('never use the connections of requests, and never delay another organization', async () => {
    const { release } = await blockedRun()
    const own = create(org.full, 'assets', { name: 'made meanwhile' })
    const other = await context.app.newOrg()
    const theirs = await begin('assets', (await other.signIn('manager')).accessToken)
    expect((await theirs.check()).state).toBe('checked')
    expect((await own).name).toBe('made meanwhile')
    await release()
  })

  it('that wait can be deleted', async () => {
    const { release } = await blockedRun()
    const waiting = await begin()
    expect((await waiting.post('check')).status).toBe(202)
    expect((await drop(waiting)).status).toBe(204)
    await release()
  })

  it('that wait behind a dead process start at the next read', async () => {
    const [dead, waiting] = [await begin(), await begin()]
    await database.sql`update imports set state = 'running' where id = ${dead.id}`
    await database.sql`update imports set state = 'waiting', job = 'check' where id = ${waiting.id}`
    expect((await waiting.get()).state).toBe('waiting')
    clock.advance(6)
    expect((await waiting.waitUntilIdle()).state).toBe('checked')
    expect((await dead.get()).state).toBe('failed')
  })

  it('are 20 at most; a new import replaces an import that is finished or was unused for an hour', async () => {
    const done = await begin()
    await done.check()
    await done.run()
    for (let made = 1; made < 20; made++) await begin()
    const newest = await begin()
    expect((await drop(done)).status).toBe(404)
    const reply = await context.app.anonymous('POST', '/api/v1/imports', { token, json: { kind: 'assets' } })
    expectApiError(reply, 'conflict')
    expect(reply.json.error.detail).toBe('Quota imports reached: the organization may have at most 20 imports')
    expect((await drop(newest)).status).toBe(204)
    await begin()
    clock.advance(3601)
    token = (await org.signIn('manager')).accessToken
    await begin()
  })

  it('are deleted after a day in any state, also while waiting', async () => {
    const waiting = await begin()
    await database.sql`update imports set state = 'waiting', job = 'check' where id = ${waiting.id}`
    clock.advance(86_401)
    await keepRetention(context.app.context, context.app.databaseUrl)
    expect((await database.sql`select from imports where org_id = ${org.orgId}`).length).toBe(0)
  })
})

describe('A request of an import', () => {
  it('waits at most 3 seconds for another transaction of the organization, like every request', async () => {
    const lock = await database.sql.reserve()
    await lock`begin`
    await lock`select pg_advisory_xact_lock(${-org.orgId})`
    const startedMs = performance.now()
    const reply = await context.app.anonymous('POST', '/api/v1/imports', { token, json: { kind: 'assets' } })
    const tookMs = performance.now() - startedMs
    await lock`rollback`
    lock.release()
    expectApiError(reply, 'rate_limited')
    expect(tookMs).toBeLessThan(15_000)
    await begin()
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
