import { Readable } from 'node:stream'
import { request } from 'undici'
import { beforeEach, describe, expect, it } from 'vitest'
import { keepRetention } from '../../../src/jobs/retention.ts'
import { type TestOrg, useApp, useSecondApp } from '../../support/app.ts'
import { ManualClock } from '../../support/auth.ts'
import { counts, endOf, errorsOf, getJob, ndjson, postBulk, runBulk } from '../../support/bulk.ts'
import type { Client } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'
import { create } from '../../support/master-data.ts'
import { acceptedNumbers, rejectedNumbers } from '../../support/metadata-numbers.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSnapshotDatabase(context)
const second = useSecondApp(context, { clock })

let org: TestOrg
let api: Client
beforeEach(async () => {
  org = await context.app.newOrg()
  api = org.full
})

const list = async (kind: 'assets' | 'locations' = 'assets') => (await api.get(`/api/v1/${kind}`, { limit: 200 })).json
const keys = async (kind: 'assets' | 'locations' = 'assets'): Promise<string[]> =>
  (await list(kind)).data.map((one: { external_key: string }) => one.external_key)
const stagedRows = async (): Promise<number> =>
  (await database.sql`select from import_rows where org_id = ${org.orgId}`).length
const importCount = async (): Promise<number> =>
  (await database.sql`select from imports where org_id = ${org.orgId}`).length

const csv = { type: 'text/csv' }
const json = { type: 'application/json' }

describe('POST /bulk/assets', () => {
  it('is answered 202 with the job and its path, and takes one token of the rate limit', async () => {
    const token = await org.client('assets:write').token()
    const raw = ndjson(Array.from({ length: 300 }, (_, at) => ({ external_key: `A${at}`, name: 'a' })))
    const headers = { 'content-type': 'application/x-ndjson' }
    const reply = await context.app.anonymous('POST', '/api/v1/bulk/assets', { token, raw, headers })
    expect(reply.status, reply.text).toBe(202)
    const { data } = reply.json
    expect(reply.headers['location']).toBe(`/api/v1/bulk/jobs/${data.id}`)
    expect(reply.headers['x-ratelimit-remaining']).toBe('119')
    expect(data).toMatchObject({ kind: 'assets', mode: 'upsert', dry_run: false, on_error: 'abort', rows: 300 })
    expect(['waiting', 'running', 'done']).toContain(data.state)
    expect(await endOf(api, data.id)).toMatchObject({
      ...{ id: data.id, state: 'done', rows: 300, done_rows: 300, created: 300, updated: 0, unchanged: 0, failed: 0 },
      ...{ errors_total: 0, reason: null, created_at: expect.any(String), finished_at: expect.any(String) },
    })
    expect((await list()).total_count).toBe(300)
    expect(await stagedRows()).toBe(0)
  })

  it.each([
    ['NDJSON', 'application/x-ndjson', '{"external_key":"A","name":"a"}\r\n\n{"external_key":"B","name":"b"}'],
    ['a JSON array', 'application/json', ' [ {"external_key":"A","name":"a"} ,\n{"external_key":"B","name":"b"}] \n'],
    ['CSV with commas', 'text/csv', '\uFEFFexternal_key,name\r\nA,a\r\n\r\nB,b'],
    ['CSV with semicolons', 'text/csv; charset=utf-8', 'External Key;Name;updated_at\nA;a;x\nB;"b"\n'],
    ['CSV with tabs', 'text/csv', 'name\texternal_key\na\tA\nb\tB\n'],
  ])('reads %s', async (_what, type, body) => {
    expect(counts(await runBulk(api, 'assets', body, { type }))).toEqual([2, 0, 0, 0])
    expect((await list()).data).toMatchObject([
      { external_key: 'A', name: 'a' },
      { external_key: 'B', name: 'b' },
    ])
  })

  it('attaches at most 100 tags to a record', async () => {
    const tags = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, at) => ({ tag_type: 'rfid', value: `${prefix}${at}` }))
    await create(api, 'assets', { external_key: 'HELD', name: 'a', tags: tags(60, 'H') })
    const options = { query: { on_error: 'skip' } }
    const job = await runBulk(
      api,
      'assets',
      [
        { external_key: 'MOST', name: 'a', tags: tags(100, 'M') },
        { external_key: 'OVER', name: 'a', tags: tags(101, 'O') },
        { external_key: 'HELD', tags: [...tags(60, 'H'), ...tags(40, 'N')] },
        { external_key: 'HELD', tags: tags(41, 'X') },
      ],
      options,
    )
    expect((await errorsOf(api, job.id)).slice(0, 2)).toEqual([
      [2, 'tags', 'tags must hold 0 to 100 entries'],
      [4, 'external_key', 'external_key also appears in line 3'],
    ])
    const more = await runBulk(api, 'assets', [{ external_key: 'HELD', tags: tags(1, 'X') }], options)
    expect(await errorsOf(api, more.id)).toEqual([
      [1, 'tags', 'A record has at most 100 tags; with this row it would have 101'],
    ])
  })

  it('creates and updates by key; a field that is absent does not change, and null clears it', async () => {
    await create(api, 'assets', { external_key: 'A', name: 'Old', description: 'd', metadata: { a: 1, b: 2 } })
    await create(api, 'assets', { external_key: 'B', name: 'Same' })
    const job = await runBulk(api, 'assets', [
      { external_key: 'A', description: null, metadata: { b: null, c: 3 }, tags: [{ tag_type: 'rfid', value: 'E1' }] },
      { external_key: 'B', name: 'Same' },
      { external_key: 'C', name: 'Third', is_active: false },
    ])
    expect(counts(job)).toEqual([1, 1, 1, 0])
    expect((await list()).data).toMatchObject([
      { name: 'Old', description: null, metadata: { a: 1, c: 3 }, tags: [{ tag_type: 'rfid', value: 'E1' }] },
      { name: 'Same' },
      { name: 'Third', is_active: false },
    ])
  })

  it('with mode=create rejects rows whose key exists, with mode=update rows whose key does not', async () => {
    await create(api, 'assets', { external_key: 'A', name: 'a' })
    const rows = [
      { external_key: 'A', name: 'a2' },
      { external_key: 'B', name: 'b' },
    ]
    const created = await runBulk(api, 'assets', rows, { query: { mode: 'create', on_error: 'skip' } })
    expect([created.mode, counts(created)]).toEqual(['create', [1, 0, 0, 1]])
    expect(await errorsOf(api, created.id)).toEqual([[1, 'external_key', 'external_key already exists']])
    const more = [...rows, { external_key: 'C' }]
    const updated = await runBulk(api, 'assets', more, { query: { mode: 'update', on_error: 'skip' } })
    expect(counts(updated)).toEqual([0, 1, 1, 1])
    expect(await errorsOf(api, updated.id)).toEqual([[3, 'external_key', 'external_key does not name an asset']])
    expect(await keys()).toEqual(['A', 'B'])
  })

  it('with dry_run=true reports what it would do and changes nothing', async () => {
    await create(api, 'assets', { external_key: 'A', name: 'a' })
    const rows = [{ external_key: 'A', name: 'b' }, { external_key: 'N', name: 'n' }, { external_key: 'X' }]
    const job = await runBulk(api, 'assets', rows, { query: { dry_run: true } })
    expect([job.state, job.dry_run, job.reason, counts(job)]).toEqual(['done', true, null, [1, 1, 0, 1]])
    expect(await errorsOf(api, job.id)).toEqual([[3, 'name', 'name is required']])
    expect((await list()).data).toMatchObject([{ external_key: 'A', name: 'a' }])
    expect(await stagedRows()).toBe(0)
  })

  it('changes nothing when one row has an error, unless on_error=skip', async () => {
    const rows = [{ external_key: 'A', name: 'a' }, { external_key: 'B' }, { external_key: 'C', name: 'c', colour: 1 }]
    const failed = await runBulk(api, 'assets', rows)
    expect(failed).toMatchObject({
      state: 'failed',
      on_error: 'abort',
      reason: '2 rows have errors; nothing was changed',
    })
    expect(counts(failed)).toEqual([0, 0, 0, 2])
    expect((await list()).total_count).toBe(0)
    expect(await stagedRows()).toBe(0)
    const skipped = await runBulk(api, 'assets', rows, { query: { on_error: 'skip' } })
    expect([skipped.state, counts(skipped)]).toEqual(['done', [1, 0, 0, 2]])
    expect(await errorsOf(api, skipped.id)).toEqual([
      [2, 'name', 'name is required'],
      [3, 'colour', 'colour is not a known field'],
    ])
    expect(await keys()).toEqual(['A'])
  })

  it.each([
    [
      'NDJSON, by line',
      'application/x-ndjson',
      '{"external_key":"A","name":"a"}\n\n{"external_key":\n[]\n"x"\n{"external_key":"B","external_key":"B"}\n',
      [
        [3, 'The line is not valid JSON'],
        [4, 'The row is not a JSON object'],
        [5, 'The row is not a JSON object'],
        [6, 'The row contains an object with a duplicate key'],
      ],
    ],
    [
      'a JSON array, by position',
      'application/json',
      '[{"external_key":"A","name":"a"},null,[1]]',
      [
        [2, 'The row is not a JSON object'],
        [3, 'The row is not a JSON object'],
      ],
    ],
    [
      'CSV, by the line in which the row begins',
      'text/csv',
      'external_key,name\r\nA,"two\r\nlines",\r\nB,b\r\nC,c,x\r\n',
      [
        [2, 'there are 3 cells under 2 columns'],
        [5, 'there are 3 cells under 2 columns'],
      ],
    ],
  ])('reports rows that cannot be read in %s', async (_what, type, body, errors) => {
    const job = await runBulk(api, 'assets', body, { type, query: { on_error: 'skip' } })
    expect((await errorsOf(api, job.id)).map(([line, , message]) => [line, message])).toEqual(errors)
    expect(counts(job)).toEqual([1, 0, 0, errors.length])
  })

  it('reports a row above 64 KiB by its line and reads the rows after it, in every format', async () => {
    const large = 'x'.repeat(1_200_000)
    const row = (external_key: string, name: string) => ({ external_key, name })
    const rows = [row('A', 'a'), row('B', large), row('C', 'x'.repeat(70_000)), row('D', 'd')]
    const bodies = {
      'application/x-ndjson': ndjson(rows),
      'application/json': JSON.stringify(rows),
      'text/csv': `external_key,name\n${rows.map((one) => `${one.external_key},"${one.name}"`).join('\n')}\n`,
    }
    for (const [type, body] of Object.entries(bodies)) {
      const job = await runBulk(api, 'assets', body, { type, query: { on_error: 'skip', dry_run: true } })
      const first = type === 'text/csv' ? 2 : 1
      expect(await errorsOf(api, job.id), type).toEqual([
        [first + 1, '', 'The row is larger than 65536 bytes'],
        [first + 2, '', 'The row is larger than 65536 bytes'],
      ])
      expect(counts(job), type).toEqual([2, 0, 0, 2])
    }
  })

  it('never changes a number silently: a number that a double cannot hold is an error of its row [D47]', async () => {
    const bad = rejectedNumbers.map(([, metadata], at) => `{"external_key":"B${at}","name":"x","metadata":${metadata}}`)
    const job = await runBulk(api, 'assets', bad.join('\n'), { query: { on_error: 'skip' } })
    expect((await errorsOf(api, job.id)).map(([, field, message]) => [field, message])).toEqual(
      rejectedNumbers.map(([, , field]) => [field, `${field} contains a number that cannot be stored exactly`]),
    )
    const good = acceptedNumbers.map(
      ([, text], at) => `{"external_key":"K${10 + at}","name":"x","metadata":{"n":${text}}}`,
    )
    expect((await runBulk(api, 'assets', good.join('\n'))).created).toBe(acceptedNumbers.length)
    const stored = (await list()).data.map((asset: { metadata: { n: number } }) => asset.metadata.n)
    expect(stored).toEqual(acceptedNumbers.map(([, , value]) => value))
  })

  it('takes a file that an export has written, in either format, and changes nothing', async () => {
    await create(api, 'assets', {
      external_key: '=A',
      name: ' a ',
      description: 'two\r\nlines',
      metadata: { a: [1, null] },
      tags: [{ tag_type: 'ble', value: 'AA:BB' }],
    })
    await create(api, 'locations', { external_key: 'H', name: 'h' })
    await create(api, 'locations', { external_key: 'S', name: 's', parent_external_key: 'H' })
    for (const kind of ['assets', 'locations'])
      for (const type of ['text/csv', 'application/x-ndjson']) {
        const exported = await api.send('GET', `/api/v1/bulk/${kind}`, { headers: { accept: type } })
        const rows = kind === 'assets' ? 1 : 2
        expect(counts(await runBulk(api, kind, exported.text, { type })), `${kind} ${type}`).toEqual([0, 0, rows, 0])
      }
  })

  it('accepts a body without rows', async () => {
    expect(await runBulk(api, 'assets', '[]', json)).toMatchObject({ state: 'done', rows: 0 })
    expect(await runBulk(api, 'assets', '')).toMatchObject({ state: 'done', rows: 0 })
    expect(await runBulk(api, 'assets', 'external_key,name\n', csv)).toMatchObject({ state: 'done', rows: 0 })
  })
})

describe('POST /bulk/locations', () => {
  it('creates parents before their children, whatever their order', async () => {
    const body = 'external_key,name,parent_external_key\nC,Bin,B\nB,Shelf,A\nA,Hall,\n'
    expect(counts(await runBulk(api, 'locations', body, csv))).toEqual([3, 0, 0, 0])
    const { data } = await list('locations')
    expect(data.map((one: { parent_external_key: string | null }) => one.parent_external_key)).toEqual([null, 'A', 'B'])
  })

  it('reports parents that do not exist and cycles', async () => {
    const rows = [
      { external_key: 'A', name: 'a', parent_external_key: 'NO' },
      { external_key: 'B', name: 'b', parent_external_key: 'B' },
      { external_key: 'C', name: 'c' },
    ]
    const job = await runBulk(api, 'locations', rows, { query: { on_error: 'skip' } })
    expect((await errorsOf(api, job.id)).map(([line, field]) => [line, field])).toEqual([
      [1, 'parent_external_key'],
      [2, 'parent_external_key'],
    ])
    expect(await keys('locations')).toEqual(['C'])
  })

  it('with mode=update does not create, and its error names the kind', async () => {
    const rows = [{ external_key: 'A', name: 'a' }]
    const job = await runBulk(api, 'locations', rows, { query: { mode: 'update' } })
    expect(job.state).toBe('failed')
    expect(await errorsOf(api, job.id)).toEqual([[1, 'external_key', 'external_key does not name a location']])
  })
})

describe('A bulk request is rejected as a whole, and nothing remains of it,', () => {
  it.each([
    ['a body that is not JSON', 'application/json', '[{"external_key":"A"]', 'Request body is not valid JSON'],
    ['an array that does not end', 'application/json', '[{"external_key":"A"},', 'Request body is not valid JSON'],
    ['an empty element', 'application/json', '[{"external_key":"A"},]', 'Request body is not valid JSON'],
    ['text after the array', 'application/json', '[] []', 'Request body is not valid JSON'],
    ['no body', 'application/json', '', 'Request body is not valid JSON'],
    ['an object', 'application/json', '{}', 'Request body could not be decoded as the expected type'],
    ['an unknown column', 'text/csv', 'external_key,colour\nA,red\n', "line 1: assets have no column 'colour'"],
    ['no key column', 'text/csv', 'name\na\n', 'line 1: the column external_key is missing'],
    ['a column twice', 'text/csv', 'external_key,name,Name\n', 'line 1: the column name occurs twice'],
    ['an empty file', 'text/csv', '\n\n', 'the file is empty'],
    ['an open quote', 'text/csv', 'external_key,name\nA,"x\n', 'line 2: a quote is never closed'],
    ['text after a quote', 'text/csv', 'external_key,name\nA,"x"y\n', 'line 2: text follows a closing quote'],
    ['invalid UTF-8', 'text/csv', Buffer.from([0x61, 0xff, 0x0a]), 'the file is not valid UTF-8; save it as CSV UTF-8'],
  ])('with %s', async (_what, type, body, detail) => {
    expectApiError(await postBulk(api, 'assets', body, { type }), 'bad_request', { detail })
    expect(await importCount()).toBe(0)
  })

  it('with more than 64 MiB; the connection stays usable [D9]', async () => {
    const body = Buffer.alloc(64 * 1024 * 1024 + 1, 'x')
    const detail = 'Request body is larger than 64 MiB'
    expectApiError(await postBulk(api, 'assets', body), 'bad_request', { detail })
    const response = await request(`${context.app.url}/api/v1/bulk/assets`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await api.token()}`,
        'content-type': 'application/x-ndjson',
        'user-agent': 'x',
      },
      // Without Content-Length, the server learns the size while it reads the body.
      body: Readable.from([body.subarray(0, 1024), body.subarray(1024)]),
    })
    const { error } = (await response.body.json()) as { error: { type: string; detail: string } }
    expect([response.statusCode, error.type, error.detail]).toEqual([400, 'bad_request', detail])
    expect(await importCount()).toBe(0)
    expect((await list()).total_count).toBe(0)
  })

  it('with more than 200,000 rows', async () => {
    const reply = await postBulk(api, 'assets', `[${Array.from({ length: 200_001 }, () => '{}').join(',')}]`, json)
    expectApiError(reply, 'validation_error', {
      fields: [{ field: 'rows', code: 'too_long', params: { max_length: 200_000 } }],
    })
    expect(await importCount()).toBe(0)
  })

  it.each([['application/merge-patch+json'], ['application/json; charset=latin1'], ['text/plain']])(
    'with the Content-Type %s',
    async (type) => {
      expectApiError(await postBulk(api, 'assets', '[]', { type }), 'unsupported_media_type')
    },
  )

  it('without a Content-Type, and the detail names the accepted ones', async () => {
    const reply = await api.send('POST', '/api/v1/bulk/assets', { raw: Buffer.from('[]') })
    expectApiError(reply, 'unsupported_media_type', {
      detail: 'Content-Type must be application/x-ndjson, application/json or text/csv',
    })
  })

  it.each([
    ['mode', 'replace'],
    ['dry_run', '1'],
    ['on_error', 'ignore'],
  ])('with %s=%s', async (name, value) => {
    expectApiError(await postBulk(api, 'assets', '', { query: { [name]: value } }), 'validation_error', {
      fields: [{ field: name, code: 'invalid_value' }],
    })
  })

  it('without the scope of the single operation', async () => {
    for (const [kind, scope] of [
      ['assets', 'locations:write'],
      ['locations', 'assets:write'],
    ] as const)
      expectApiError(await postBulk(org.client(scope), kind, ''), 'forbidden', {
        detail: `Missing required scope: ${kind}:write`,
      })
  })

  it('when the quota of imports is used up by jobs that have not ended', async () => {
    await database.sql`
      insert into imports (org_id, id, kind, state, rows, creates, updates, unchanged, errors_total, errors, created_at, changed_at)
      select ${org.orgId}, n, 'assets', 'waiting', 0, 0, 0, 0, 0, '[]', now(), now() from generate_series(1, 20) n`
    expectApiError(await postBulk(api, 'assets', '[]', json), 'conflict', {
      detail: 'Quota imports reached: the organization may have at most 20 imports',
    })
  })
})

describe('A bulk job', () => {
  it('runs one at a time in an organization: the next one is waiting and starts when the first one ends', async () => {
    const asset = await create(api, 'assets', { external_key: 'HELD', name: 'before' })
    const lock = await database.sql.reserve()
    await lock`begin`
    await lock`select from assets where org_id = ${org.orgId} and id = ${asset.id} for update`
    const first = await postBulk(api, 'assets', [{ external_key: 'HELD', name: 'after' }])
    await expect.poll(async () => (await getJob(api, first.json.data.id)).state).toBe('running')
    const next = await postBulk(api, 'assets', [{ external_key: 'NEXT', name: 'n' }])
    expect(next.json.data).toMatchObject({ state: 'waiting', rows: 1, done_rows: 0, created: 0, finished_at: null })
    await lock`rollback`
    lock.release()
    expect(await endOf(api, next.json.data.id)).toMatchObject({ state: 'done', created: 1 })
    expect((await getJob(api, first.json.data.id)).state).toBe('done')
  })

  it('lists its errors in pages', async () => {
    const rows = Array.from({ length: 450 }, (_, at) => ({ external_key: `K${at}` }))
    const job = await runBulk(api, 'assets', rows)
    expect(job).toMatchObject({ failed: 450, errors_total: 450 })
    const page = await api.get(`/api/v1/bulk/jobs/${job.id}/errors`, { limit: 3, offset: 298 })
    expect(page.json).toMatchObject({ limit: 3, offset: 298, total_count: 450 })
    expect(page.json.data.map((one: { line: number }) => one.line)).toEqual([299, 300, 301])
    const empty = await api.get(`/api/v1/bulk/jobs/${job.id}/errors`, { offset: 1000 })
    expect(empty.json).toMatchObject({ data: [], total_count: 450 })
  })

  it('keeps the first 10,000 errors and counts all of them', async () => {
    const rows = Array.from({ length: 10_005 }, (_, at) => ({ external_key: `K${at}` }))
    const job = await runBulk(api, 'assets', rows, { query: { dry_run: true } })
    expect(job).toMatchObject({ failed: 10_005, errors_total: 10_005 })
    const page = await api.get(`/api/v1/bulk/jobs/${job.id}/errors`, { limit: 1, offset: 9_999 })
    expect(page.json).toMatchObject({ total_count: 10_000, data: [{ line: 10_000 }] })
  })

  it('needs the write scope of its kind', async () => {
    const assets = await runBulk(api, 'assets', [{ external_key: 'A', name: 'a' }])
    const locations = await runBulk(api, 'locations', [{ external_key: 'A', name: 'a' }])
    for (const path of ['', '/errors']) {
      const denied = await org.client('assets:read').get(`/api/v1/bulk/jobs/${assets.id}${path}`)
      expectApiError(denied, 'forbidden', { detail: 'Missing required scope: assets:write' })
      expect((await org.client('assets:write').get(`/api/v1/bulk/jobs/${assets.id}${path}`)).status).toBe(200)
      expect((await org.client('locations:write').get(`/api/v1/bulk/jobs/${locations.id}${path}`)).status).toBe(200)
      const other = await org.client('assets:write').get(`/api/v1/bulk/jobs/${locations.id}${path}`)
      expectApiError(other, 'forbidden', { detail: 'Missing required scope: locations:write' })
    }
  })

  it('is not found by another organization', async () => {
    const job = await runBulk(api, 'assets', [{ external_key: 'A', name: 'a' }])
    const otherOrganization = (await context.app.newOrg()).full
    for (const path of ['', '/errors'])
      expectApiError(await otherOrganization.get(`/api/v1/bulk/jobs/${job.id}${path}`), 'not_found')
  })

  it('fails when the organization may not have so many records, and says why', async () => {
    await database.sql`update organizations set quotas = '{"assets":1}' where org_id = ${org.orgId}`
    const rows = [
      { external_key: 'A', name: 'a' },
      { external_key: 'B', name: 'b' },
    ]
    const reason = 'Quota assets reached: the organization may have at most 1 assets'
    expect(await runBulk(api, 'assets', rows)).toMatchObject({ state: 'failed', reason, created: 0, failed: 0 })
    expect(await runBulk(api, 'assets', rows, { query: { dry_run: true } })).toMatchObject({ state: 'done', reason })
    expect((await list()).total_count).toBe(0)
  })

  it('whose process died is failed, and nothing was changed', async () => {
    const job = await runBulk(api, 'assets', [{ external_key: 'A', name: 'a' }], { query: { dry_run: true } })
    await database.sql`update imports set state = 'running' where id = ${job.id}`
    clock.advance(6)
    expect(await getJob(api, job.id)).toMatchObject({
      state: 'failed',
      reason: 'The server stopped before the import finished; nothing was changed',
    })
  })

  it('is kept for a day', async () => {
    const job = await runBulk(api, 'assets', [{ external_key: 'A', name: 'a' }])
    clock.advance(86_400 + 1)
    await keepRetention(context.app.context, context.app.databaseUrl)
    expectApiError(await org.full.get(`/api/v1/bulk/jobs/${job.id}`), 'not_found')
  })
})

describe('Idempotency-Key', () => {
  const rows = [{ external_key: 'A', name: 'a' }]
  const keyed = (key: string, query: Record<string, string | boolean> = {}) => ({
    headers: { 'idempotency-key': key },
    query,
  })

  it('returns the same job for the same request, and applies it once', async () => {
    const first = await runBulk(api, 'assets', rows, keyed('one'))
    await api.delete(`/api/v1/assets/${(await list()).data[0].id}`)
    const again = await postBulk(api, 'assets', rows, keyed('one'))
    expect(again.status).toBe(202)
    expect(again.headers['location']).toBe(`/api/v1/bulk/jobs/${first.id}`)
    expect(again.json.data).toEqual(first)
    expect((await list()).total_count).toBe(0)
    expect(await importCount()).toBe(1)
  })

  it.each([
    ['another body', [{ external_key: 'B', name: 'b' }], 'assets', {}],
    ['another kind', rows, 'locations', {}],
    ['another mode', rows, 'assets', { mode: 'create' }],
    ['a dry run', rows, 'assets', { dry_run: true }],
    ['another on_error', rows, 'assets', { on_error: 'skip' }],
  ])('is 409 with %s', async (_what, body, kind, query) => {
    await runBulk(api, 'assets', rows, keyed('two'))
    expectApiError(await postBulk(api, kind, body, keyed('two', query)), 'conflict', {
      detail: 'Another request was sent with this Idempotency-Key',
    })
    expect(await importCount()).toBe(1)
    expect(await stagedRows()).toBe(0)
  })

  it('starts one job when several requests with it arrive at the same time, also in two processes', async () => {
    const token = await api.token()
    const options = {
      ...{ token, raw: ndjson(rows) },
      headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': 'race' },
    }
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        (at % 2 ? second.app : context.app).anonymous('POST', '/api/v1/bulk/assets', options),
      ),
    )
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 202))
    expect(new Set(replies.map((reply) => reply.json.data.id)).size).toBe(1)
    expect(await importCount()).toBe(1)
    await endOf(api, replies[0]!.json.data.id)
  })

  it('is 409 when the organization has used 10,000 keys within 24 hours; a key that is known still returns its job', async () => {
    const first = await runBulk(api, 'assets', rows, keyed('known'))
    await database.sql`
      insert into imports (org_id, id, kind, state, is_trimmed, idempotency_key, request_digest, rows, creates, updates,
        unchanged, errors_total, errors, created_at, changed_at)
      select org_id, -n, kind, 'failed', true, 'key ' || n, '', 0, 0, 0, 0, 0, '[]', created_at, changed_at
      from imports cross join generate_series(1, 9998) n where org_id = ${org.orgId}`
    const { id } = (await postBulk(api, 'assets', rows, keyed('last'))).json.data
    await endOf(api, id)
    expectApiError(await postBulk(api, 'assets', rows, keyed('excess')), 'conflict', {
      detail: 'Quota idempotency_keys reached: the organization may use at most 10000 Idempotency-Keys within 24 hours',
    })
    expect((await postBulk(api, 'assets', rows, keyed('known'))).json.data.id).toBe(first.id)
    expect((await postBulk(api, 'assets', rows)).status).toBe(202)
    const { accessToken: token } = await org.signIn('manager')
    const attention = await context.app.anonymous('GET', '/api/v1/attention', { token })
    expect(attention.json.data.failed_imports).toEqual([])
    clock.advance(86_401)
    await keepRetention(context.app.context, context.app.databaseUrl)
    expect(await importCount()).toBe(0)
    clock.advance(-86_401)
  })

  it('belongs to the organization', async () => {
    const first = await runBulk(api, 'assets', rows, keyed('shared'))
    const other = await postBulk((await context.app.newOrg()).full, 'assets', rows, keyed('shared'))
    expect(other.json.data.id).not.toBe(first.id)
  })

  it('is kept for 24 hours', async () => {
    const first = await runBulk(api, 'assets', rows, keyed('day'))
    clock.advance(86_400 - 60)
    expect((await postBulk(org.full, 'assets', rows, keyed('day'))).json.data.id).toBe(first.id)
    clock.advance(61)
    expect((await postBulk(org.full, 'assets', rows, keyed('day'))).json.data.id).not.toBe(first.id)
  })

  it('is kept when newer jobs replace its job in the quota; only the errors of the job are gone then', async () => {
    const bad = [{ external_key: 'X' }]
    const first = await runBulk(api, 'assets', bad, keyed('kept'))
    // A quota replaces the oldest job, so every job has a time of its own.
    const runLater = (...job: Parameters<typeof runBulk>): ReturnType<typeof runBulk> => {
      clock.advance(1)
      return runBulk(...job)
    }
    for (let at = 0; at < 20; at++) await runLater(api, 'assets', rows, keyed(`job-${at}`))
    expect((await postBulk(api, 'assets', bad, keyed('kept'))).json.data).toEqual(first)
    expect(await errorsOf(api, first.id)).toEqual([])
    const unkeyed = await importCount()
    for (let at = 0; at < 3; at++) await runLater(api, 'assets', rows)
    expect(await importCount()).toBe(unkeyed + 3)
  })

  it('may have 255 characters', async () => {
    expect((await postBulk(api, 'assets', rows, keyed('x'.repeat(255)))).status).toBe(202)
  })

  it.each([
    ['is empty', ''],
    ['is longer than 255 characters', 'x'.repeat(256)],
    ['contains a space', 'a b'],
    ['contains another character', 'ä'],
  ])('that %s is 400', async (_what, key) => {
    expectApiError(await postBulk(api, 'assets', rows, keyed(key)), 'validation_error', {
      fields: [{ field: 'Idempotency-Key', code: 'invalid_value' }],
    })
  })
})

describe('The natural-key base', () => {
  const base = '/natural/api/v1'

  it.each(['assets', 'locations'])('imports %s with the same rows, and has its own path of the job', async (kind) => {
    const reply = await postBulk(api, kind, [{ external_key: 'A', name: 'a' }], { base })
    expect(reply.status, reply.text).toBe(202)
    expect(reply.headers['location']).toBe(`${base}/bulk/jobs/${reply.json.data.id}`)
    expect((await api.get(reply.headers['location']!)).status).toBe(200)
    expect((await api.get(`${reply.headers['location']}/errors`)).json.data).toEqual([])
    await endOf(api, reply.json.data.id)
    expect((await api.get(`${base}/${kind}/A`)).json.data).toMatchObject({ identifier: 'A', name: 'a' })
  })

  it.each(['assets', 'locations'])('shares the idempotency keys of imports of %s with the other base', async (kind) => {
    const headers = { 'idempotency-key': 'both' }
    const rows = [{ external_key: 'A', name: 'a' }]
    const first = await runBulk(api, kind, rows, { headers })
    expect((await postBulk(api, kind, rows, { headers, base })).json.data.id).toBe(first.id)
    expectApiError(await postBulk(api, kind, [], { headers, base }), 'conflict')
  })
})
