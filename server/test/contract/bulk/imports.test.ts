import { beforeEach, describe, expect, it } from 'vitest'
import { CsvReader } from '../../../src/bulk/csv-table.ts'
import { keepRetention } from '../../../src/jobs/retention.ts'
import { type TestOrg, useApp, useSecondApp } from '../../support/app.ts'
import { ManualClock } from '../../support/auth.ts'
import { errorsOf, runBulk } from '../../support/bulk.ts'
import type { Client } from '../../support/client.ts'
import { parseRecords } from '../../support/csv.ts'
import { expectApiError } from '../../support/error-response.ts'
import { ImportRun, counts, errorPositions } from '../../support/imports.ts'
import { create } from '../../support/master-data.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSnapshotDatabase(context)
const second = useSecondApp(context, { clock })

let org: TestOrg
let api: Client
let token: string
beforeEach(async () => {
  org = await context.app.newOrg()
  api = org.full
  token = (await org.signIn('manager')).accessToken
})

const begin = (kind = 'assets'): Promise<ImportRun> => new ImportRun(context.app, token).open(kind)
const list = async (kind: 'assets' | 'locations' = 'assets') => (await api.get(`/api/v1/${kind}`, { limit: 200 })).json
const tag = (value: string, tag_type = 'rfid') => ({ tag_type, value })

/** All data of the organization except the import itself. */
const everything = async (): Promise<object> => {
  const { imports: _imports, import_rows: _rows, ...rest } = JSON.parse(await database.snapshot(org.orgId))
  return rest
}

describe('An import of assets', () => {
  it('reports what it would do, does it, and reports the result', async () => {
    await create(api, 'assets', { external_key: 'A', name: 'Old', tags: [tag('T1')], metadata: { a: 1, b: 2 } })
    await create(api, 'assets', { external_key: 'B', name: 'Same', description: '' })
    const run = await begin()
    expect(await run.get()).toEqual({
      ...{ id: run.id, kind: 'assets', state: 'open', rows: 0, creates: 0, updates: 0, unchanged: 0 },
      ...{ errors_total: 0, errors: [], done_rows: 0 },
    })
    await run.rows([
      { external_key: 'A', name: 'New', tags: [tag('t1'), tag('T2')], metadata: { b: null, c: [1] } },
      { external_key: 'B', name: 'Same' },
      { external_key: 'C', name: 'Third', is_active: false, valid_from: '2026-01-01T00:00:00Z', tags: [tag('T3')] },
    ])
    const before = await everything()
    expect(await run.check()).toMatchObject({ state: 'checked', rows: 3, done_rows: 3 })
    expect(counts(await run.get())).toEqual({ creates: 1, updates: 1, unchanged: 1, errors: 0 })
    expect(await everything()).toEqual(before)

    expect(await run.run()).toMatchObject({ state: 'done', creates: 1, updates: 1, unchanged: 1, done_rows: 3 })
    const { data, total_count: total } = await list()
    expect(total).toBe(3)
    const [a, b, c] = data
    expect(a).toMatchObject({ name: 'New', metadata: { a: 1, c: [1] } })
    expect(a.tags.map((one: { value: string }) => one.value).sort()).toEqual(['T1', 'T2'])
    expect(a.updated_at > a.created_at).toBe(true)
    expect(b.updated_at).toBe(b.created_at)
    expect(c).toMatchObject({ name: 'Third', is_active: false, valid_from: '2026-01-01T00:00:00.000Z' })
    expect((await api.get('/api/v1/assets', { q: 't3' })).json.total_count).toBe(1)
    expect((await api.get('/api/v1/assets', { is_active: false })).json.total_count).toBe(1)
  })

  it('does not change fields that a row omits, and clears fields that are null', async () => {
    const whole = { description: 'd', metadata: { k: 1 }, is_active: false, valid_to: '2027-01-01T00:00:00Z' }
    const made = await create(api, 'assets', { external_key: 'A', name: 'a', ...whole, tags: [tag('T')] })
    await (await (await begin()).rows([{ external_key: 'A', description: null, valid_to: null, tags: [] }])).check()
    const run = await (await begin()).rows([{ external_key: 'A', description: null, valid_to: null, tags: [] }])
    await run.check()
    expect(counts(await run.run())).toEqual({ creates: 0, updates: 1, unchanged: 0, errors: 0 })
    const { data } = (await api.get(`/api/v1/assets/${made.id}`)).json
    expect(data).toEqual({ ...made, description: null, valid_to: null, updated_at: data.updated_at })
  })

  it('that only attaches a tag is an update and does not move updated_at (D21)', async () => {
    const made = await create(api, 'assets', { external_key: 'A', name: 'a' })
    const run = await (await begin()).rows([{ external_key: 'A', tags: [tag('T')] }])
    await run.check()
    expect(counts(await run.run())).toMatchObject({ updates: 1, unchanged: 0 })
    const { data } = (await api.get(`/api/v1/assets/${made.id}`)).json
    expect([data.updated_at, data.tags.length]).toEqual([made.updated_at, 1])
    expect((await api.get('/api/v1/assets', { q: 't' })).json.total_count).toBe(1)
  })

  it('follows the rules of the public API, line by line', async () => {
    await create(api, 'assets', { external_key: 'HELD', name: 'a', tags: [tag('TAKEN')] })
    await create(api, 'locations', { external_key: 'L', name: 'a', tags: [tag('AC:23', 'ble')] })
    const run = await begin()
    await run.rows([
      { name: 'no key' },
      { external_key: 'N' },
      { external_key: 'X', name: '' },
      { external_key: 'X', name: 5 },
      { external_key: 'X', name: 'a', colour: 'red' },
      { external_key: 'X', name: 'a', parent_external_key: 'L' },
      { external_key: 'X', name: 'a', description: 'a\u0000' },
      { external_key: 'X', name: 'a', metadata: { a: '\ud800' } },
      { external_key: 'X', name: 'a', valid_from: '2026-01-01' },
      { external_key: 'X', name: 'a', valid_from: '1970-01-01T00:00:00Z' },
      { external_key: 'X', name: 'a', valid_from: '2026-02-01T00:00:00Z', valid_to: '2026-01-01T00:00:00Z' },
      { external_key: 'X', name: 'a', tags: [tag('ok'), { tag_type: 'rfid' }] },
      { external_key: 'X', name: 'a', tags: [tag('ok'), tag('taken')] },
      { external_key: 'X', name: 'a', tags: [tag('ac23', 'ble')] },
      { external_key: 'D', name: 'a', tags: [tag('once')] },
      { external_key: 'D', name: 'b' },
      { external_key: 'E', name: 'b', tags: [tag('ONCE')] },
      { external_key: 'F', name: 'b', tags: [tag('f'), tag('F')] },
    ])
    const checked = await run.check()
    expect(errorPositions(checked)).toEqual([
      [2, 'external_key'],
      [3, 'name'],
      [4, 'name'],
      [5, 'name'],
      [6, 'colour'],
      [7, 'parent_external_key'],
      [8, 'description'],
      [9, 'metadata.a'],
      [10, 'valid_from'],
      [11, 'valid_from'],
      [12, 'valid_to'],
      [13, 'tags[1].value'],
      [14, 'tags[1].value'],
      [15, 'tags[0].value'],
      [17, 'external_key'],
      [18, 'tags[0].value'],
      [19, 'tags[1].value'],
    ])
    const message = (line: number) => checked.errors.find((error) => error.line === line)!.message
    expect([message(14), message(15)]).toEqual([
      'This tag is already attached to HELD',
      'This tag is already attached to L',
    ])
    expect(message(17)).toBe('external_key also appears in line 16')
    expect(counts(checked)).toEqual({ creates: 1, updates: 0, unchanged: 0, errors: 17 })
  })

  it('with errors is rejected and changes nothing, and writes the valid rows on request', async () => {
    const run = await (await begin()).rows([{ external_key: 'A', name: 'a' }, { external_key: 'B' }])
    await run.check()
    const before = await everything()
    expectApiError(await run.post('run', { skip_errors: false }), 'conflict')
    expect([(await run.get()).state, await everything()]).toEqual(['checked', before])
    expect(await run.run(true)).toMatchObject({ state: 'done', creates: 1, errors_total: 1 })
    expect((await list()).data.map((one: { external_key: string }) => one.external_key)).toEqual(['A'])
  })

  it('keeps the first 200 errors and counts them all', async () => {
    const run = await begin()
    await run.rows(Array.from({ length: 1500 }, (_, at) => ({ external_key: `K${at}` })))
    const checked = await run.check()
    expect([checked.errors_total, checked.errors.length, checked.errors[199]!.line]).toEqual([1500, 200, 201])
  })

  it('reports the lines of a file that cannot be read like the public API, and can skip them', async () => {
    const text = 'external_key,name,metadata\nA,a,\nB,b,,more\nC,c,{"n":9007199254740993}\nD,,\n'
    const job = await runBulk(api, 'assets', text, { type: 'text/csv', query: { dry_run: true } })
    const reader = new CsvReader('assets')
    const rows = [...reader.push(text), ...reader.end()].map((row) =>
      'fields' in row
        ? { line: row.line, ...row.fields }
        : { line: row.line, error: { field: row.field, message: row.message } },
    )
    const run = await begin()
    expect((await run.post('rows', { rows })).status).toBe(204)
    const checked = await run.check()
    expect(checked.errors.map(({ line, field, message }) => [line, field, message])).toEqual(
      await errorsOf(api, job.id),
    )
    expect(errorPositions(checked)).toEqual([
      [3, ''],
      [4, 'metadata.n'],
      [5, 'name'],
    ])
    expect(await run.run(true)).toMatchObject({ state: 'done', creates: 1 })
    expectApiError(
      await (await begin()).post('rows', { rows: [{ line: 2, error: { field: '' } }] }),
      'validation_error',
    )
  })

  it('is checked again when it runs: an error since the check fails the whole import', async () => {
    const run = await begin()
    await run.rows([
      { external_key: 'A', name: 'a' },
      { external_key: 'B', name: 'b', tags: [tag('T')] },
    ])
    await run.check()
    await create(api, 'assets', { external_key: 'Z', name: 'z', tags: [tag('T')] })
    const before = await everything()
    const failed = await run.run()
    expect([failed.state, errorPositions(failed), failed.done_rows]).toEqual(['failed', [[3, 'tags[0].value']], 0])
    expect(await everything()).toEqual(before)
    expect((await run.check()).state).toBe('checked')
    expect((await run.run(true)).state).toBe('done')
  })

  it('updates a record that was created since the check', async () => {
    const run = await (await begin()).rows([{ external_key: 'A', name: 'a' }])
    expect(counts(await run.check())).toMatchObject({ creates: 1 })
    await create(api, 'assets', { external_key: 'A', name: 'older' })
    expect(counts(await run.run())).toMatchObject({ creates: 0, updates: 1 })
  })

  it('of an export changes nothing in its own organization, and creates the same records in another one', async () => {
    const nasty = ['=1+1', "'x", 'a,"b"', ' ü ', '-']
    for (const [at, text] of nasty.entries())
      await create(api, 'assets', {
        ...{ external_key: text, name: text, description: at % 2 === 0 ? '' : `${text}\r\n`, metadata: { [text]: at } },
        ...{ valid_from: '2026-01-01T00:00:00.123456Z', is_active: at % 2 === 0 },
        tags: [tag(`${text} ${at}`, 'barcode'), tag(`E${at}`)],
      })
    const csv = await context.app.anonymous('GET', '/api/v1/exports/assets.csv', { token })
    const rows = parseRecords(csv.text).map((one) => ({
      ...one,
      metadata: JSON.parse(one['metadata']!),
      is_active: one['is_active'] === 'true',
      tags: one['tags']!.split('\n').map((text) => {
        const colon = text.indexOf(':')
        return tag(text.slice(colon + 1), text.slice(0, colon))
      }),
    }))
    const again = await (await begin()).rows(rows)
    expect(counts(await again.check())).toEqual({ creates: 0, updates: 0, unchanged: 5, errors: 0 })

    const other = await context.app.newOrg()
    const there = new ImportRun(context.app, (await other.signIn('manager')).accessToken)
    await (await there.open('assets')).rows(rows)
    await there.check()
    expect((await there.run()).creates).toBe(5)
    const bare = async (client: Client) =>
      (await client.get('/api/v1/assets')).json.data.map(
        ({ id: _id, created_at: _c, updated_at: _u, tags, ...rest }: Record<string, unknown>) => ({
          ...rest,
          tags: (tags as { tag_type: string; value: string }[]).map((one) => [one.tag_type, one.value]).sort(),
        }),
      )
    expect(await bare(other.full)).toEqual(await bare(api))
  })
})

describe('An import of locations', () => {
  const parents = async () =>
    Object.fromEntries(
      (await list('locations')).data.map((one: Record<string, string>) => [
        one['external_key'],
        one['parent_external_key'],
      ]),
    )

  it('accepts parents from the file in any order, and moves existing locations', async () => {
    await create(api, 'locations', { external_key: 'SITE', name: 'Site' })
    await create(api, 'locations', { external_key: 'OLD', name: 'Old', parent_external_key: 'SITE' })
    const run = await begin('locations')
    await run.rows([
      { external_key: 'SHELF', name: 'Shelf', parent_external_key: 'HALL', tags: [tag('L1', 'barcode')] },
      { external_key: 'HALL', name: 'Hall', parent_external_key: 'SITE' },
      { external_key: 'OLD', parent_external_key: 'SHELF' },
      { external_key: 'SITE', parent_external_key: null },
      { external_key: 'ROOT', name: 'Root' },
    ])
    expect(counts(await run.check())).toEqual({ creates: 3, updates: 1, unchanged: 1, errors: 0 })
    expect((await run.run()).state).toBe('done')
    expect(await parents()).toEqual({ HALL: 'SITE', OLD: 'SHELF', ROOT: null, SHELF: 'HALL', SITE: null })
    expect((await list('locations')).total_count).toBe(5)
  })

  it('swaps a parent and its child', async () => {
    await create(api, 'locations', { external_key: 'A', name: 'a' })
    await create(api, 'locations', { external_key: 'B', name: 'b', parent_external_key: 'A' })
    const run = await begin('locations')
    await run.rows([
      { external_key: 'A', parent_external_key: 'B' },
      { external_key: 'B', parent_external_key: null },
    ])
    await run.check()
    expect((await run.run()).state).toBe('done')
    expect(await parents()).toEqual({ A: 'B', B: null })
  })

  it('rejects a parent that does not exist, and all rows below a rejected row', async () => {
    const run = await begin('locations')
    await run.rows([
      { external_key: 'C', name: 'c', parent_external_key: 'B' },
      { external_key: 'B', name: 'b', parent_external_key: 'A' },
      { external_key: 'A', parent_external_key: null },
      { external_key: 'X', name: 'x', parent_external_key: 'NOWHERE' },
      { external_key: 'OK', name: 'ok' },
      { external_key: 'M', name: 'm', metadata: {} },
    ])
    const checked = await run.check()
    const parent = 'parent_external_key'
    expect(errorPositions(checked)).toEqual([
      [2, parent],
      [3, parent],
      [4, 'name'],
      [5, parent],
      [7, 'metadata'],
    ])
    expect(await run.run(true)).toMatchObject({ state: 'done', creates: 1 })
    expect(await parents()).toEqual({ OK: null })
  })

  it.each([
    ['itself', [{ external_key: 'A', name: 'a', parent_external_key: 'A' }], [2]],
    [
      'a cycle of new locations',
      [
        { external_key: 'A', name: 'a', parent_external_key: 'B' },
        { external_key: 'B', name: 'b', parent_external_key: 'A' },
        { external_key: 'C', name: 'c', parent_external_key: 'B' },
      ],
      [2, 3, 4],
    ],
    ['its own descendant', [{ external_key: 'TOP', parent_external_key: 'LOW' }], [2]],
    [
      'a descendant through a new one',
      [
        { external_key: 'NEW', name: 'n', parent_external_key: 'LOW' },
        { external_key: 'TOP', parent_external_key: 'NEW' },
      ],
      [2, 3],
    ],
  ])('rejects a location inside %s (D23)', async (_what, rows, lines) => {
    await create(api, 'locations', { external_key: 'TOP', name: 't' })
    await create(api, 'locations', { external_key: 'MID', name: 'm', parent_external_key: 'TOP' })
    await create(api, 'locations', { external_key: 'LOW', name: 'l', parent_external_key: 'MID' })
    const checked = await (await (await begin('locations')).rows(rows)).check()
    expect(checked.errors.map((error) => error.line)).toEqual(lines)
    for (const { field } of checked.errors) expect(field).toBe('parent_external_key')
  })
})

describe('The lifecycle of an import', () => {
  it('goes from open to checked to done, and rejects requests in the wrong state', async () => {
    const run = await begin()
    expectApiError(await run.post('run', { skip_errors: true }), 'conflict')
    await run.rows([{ external_key: 'A', name: 'a' }])
    await run.check()
    await run.rows([{ external_key: 'B', name: 'b' }], 9)
    expect(await run.get()).toMatchObject({ state: 'open', rows: 2 })
    await run.check()
    await run.run()
    for (const [path, json] of [
      ['run', { skip_errors: true }],
      ['check', undefined],
      ['rows', { rows: [] }],
    ] as const)
      expectApiError(await run.post(path, json), 'conflict')
  })

  it('accepts resent rows without duplicating them', async () => {
    const run = await (
      await begin()
    ).rows([
      { external_key: 'A', name: 'a' },
      { external_key: 'B', name: 'b' },
    ])
    await run.rows([{ external_key: 'A2', name: 'a' }])
    expect((await run.check()).creates).toBe(2)
    await run.run()
    expect((await list()).data.map((one: { external_key: string }) => one.external_key)).toEqual(['A2', 'B'])
  })

  it.each([
    ['a row that is no object', [5], 'rows[0]'],
    ['a row without a line', [{ external_key: 'A' }], 'rows[0].line'],
    ['line zero', [{ line: 0, external_key: 'A' }], 'rows[0].line'],
    ['one line twice', [{ line: 1 }, { line: 1 }], 'rows[1].line'],
  ])('rejects %s', async (_what, rows, field) => {
    const reply = await (await begin()).post('rows', { rows })
    expectApiError(reply, 'validation_error')
    expect(reply.json.error.fields[0].field).toBe(field)
  })

  it('has 200,000 rows at most', async () => {
    const run = await begin()
    await database.sql`insert into import_rows select ${org.orgId}, ${run.id}, n, '{}', 2 from generate_series(1, 200000) n`
    await database.sql`update imports set rows = 200000 where org_id = ${org.orgId} and id = ${run.id}`
    expectApiError(await run.post('rows', { rows: [{ line: 200_001 }] }), 'validation_error', {
      fields: [{ field: 'rows', code: 'too_long', params: { max_length: 200_000 } }],
    })
    expect((await run.post('rows', { rows: [{ line: 200_000 }] })).status).toBe(204)
  })

  it('ends with a delete on request or after a day', async () => {
    const [one, two] = [await (await begin()).rows([{ external_key: 'A', name: 'a' }]), await begin()]
    const drop = () => context.app.anonymous('DELETE', `/api/v1/imports/${one.id}`, { token })
    expect([(await drop()).status, (await drop()).status]).toEqual([204, 404])
    clock.advance(86_401)
    await keepRetention(context.app.context, context.app.databaseUrl)
    const rows = await database.sql`select from imports where org_id = ${org.orgId} and id = ${two.id}`
    expect(rows.length).toBe(0)
  })

  it('is not deleted after a day while a request changes it', async () => {
    const run = await (await begin()).rows([{ external_key: 'A', name: 'a' }])
    clock.advance(86_401)
    const lock = await database.sql.reserve()
    await lock`begin`
    await lock`select from imports where org_id = ${org.orgId} and id = ${run.id} for update`
    await keepRetention(context.app.context, context.app.databaseUrl)
    await lock`rollback`
    lock.release()
    const rows = await database.sql`select from imports where org_id = ${org.orgId} and id = ${run.id}`
    expect(rows.length).toBe(1)
  })

  it('shows its progress in every process, and cannot be deleted or started again while it runs', async () => {
    const run = await begin()
    await run.rows(
      Array.from({ length: 4000 }, (_, at) => ({ external_key: `K${at}`, name: 'a', tags: [tag(`T${at}`)] })),
    )
    expect((await run.check()).creates).toBe(4000)
    const before = await everything()
    expect((await run.post('run', { skip_errors: false })).status).toBe(202)
    expectApiError(await run.post('run', { skip_errors: false }), 'conflict')
    expectApiError(await context.app.anonymous('DELETE', `/api/v1/imports/${run.id}`, { token }), 'conflict')
    const seen: number[] = []
    for (let state = 'running'; state === 'running';) {
      const [here, there] = [await run.get(), await run.get(second.app)]
      // No row is visible before all rows are.
      if (there.state === 'running') seen.push(there.done_rows)
      state = here.state
    }
    expect(seen.every((done, at) => at === 0 || done >= seen[at - 1]!)).toBe(true)
    expect(await run.get()).toMatchObject({ state: 'done', done_rows: 4000 })
    expect(await everything()).not.toEqual(before)
    expect((await list()).total_count).toBe(4000)
  })

  it('whose worker has died ends as failed at the next read, and the import may be checked again', async () => {
    const run = await (await begin()).rows([{ external_key: 'A', name: 'a' }])
    await database.sql`update imports set state = 'running' where org_id = ${org.orgId} and id = ${run.id}`
    expect((await run.get()).state).toBe('running')
    clock.advance(6)
    const dead = await run.get()
    expect([dead.state, dead.errors]).toEqual([
      'failed',
      [{ line: 0, field: '', message: 'The server stopped before the import finished; nothing was changed' }],
    ])
    expect((await run.check()).state).toBe('checked')
  })
})

describe('The limits of an import', () => {
  it('are those of the API: metadata that is too large after the merge is rejected [D52]', async () => {
    await create(api, 'assets', { external_key: 'A', name: 'a', metadata: { a: 'x'.repeat(65_000) } })
    const run = await begin()
    await run.rows([
      { external_key: 'A', metadata: { b: 'x'.repeat(1000) } },
      { external_key: 'B', name: 'b', metadata: { b: 'x'.repeat(65_536) } },
      { external_key: 'C', name: 'c', metadata: { b: 'x'.repeat(65_000) } },
    ])
    expect(errorPositions(await run.check())).toEqual([
      [2, 'metadata'],
      [3, 'metadata'],
    ])
    expect(counts(await run.run(true))).toEqual({ creates: 1, updates: 0, unchanged: 0, errors: 2 })
  })

  it('are those of the API: a tree has at most 64 levels, existing locations included [D52]', async () => {
    const rows = Array.from({ length: 66 }, (_, at) => ({
      external_key: `L${at + 1}`,
      name: 'x',
      ...(at === 0 ? {} : { parent_external_key: `L${at}` }),
    }))
    const run = await (await begin('locations')).rows(rows)
    const checked = await run.check()
    expect(checked.errors).toEqual(
      [66, 67].map((line) => ({
        line,
        field: 'parent_external_key',
        message: 'A tree of locations has at most 64 levels',
      })),
    )
    expect(counts(await run.run(true))).toEqual({ creates: 64, updates: 0, unchanged: 0, errors: 2 })

    const hall = await create(api, 'locations', { external_key: 'HALL', name: 'x' })
    await create(api, 'locations', { external_key: 'DOCK', name: 'x', parent_id: hall.id })
    const second = await begin('locations')
    await second.rows([
      { external_key: 'HALL', parent_external_key: 'L63' },
      { external_key: 'DOCK', name: 'renamed' },
    ])
    const rejected = await second.check()
    expect(errorPositions(rejected)).toEqual([[2, 'parent_external_key']])
    expect(counts(await second.run(true))).toEqual({ creates: 0, updates: 1, unchanged: 0, errors: 1 })
    const third = await (await begin('locations')).rows([{ external_key: 'HALL', parent_external_key: 'L62' }])
    await third.check()
    expect(counts(await third.run())).toEqual({ creates: 0, updates: 1, unchanged: 0, errors: 0 })
  })
})
