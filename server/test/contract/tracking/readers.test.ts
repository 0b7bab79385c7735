import { beforeAll, describe, expect, it } from 'vitest'
import { Site, database, eventually, expectApiError, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const path = '/api/v1/readers'
const now = '2026-05-04T12:00:00.000Z'

let site: Site
let tokens: Record<'viewer' | 'operator' | 'manager' | 'admin', string>

const send = (method: string, target: string, options: object = {}, token = tokens.manager) =>
  context.app.anonymous(method, target, { token, ...options })

const made = async (json: object) => {
  const reply = await send('POST', path, { json })
  expect(reply.status).toBe(201)
  return reply.json.data
}

beforeAll(async () => {
  site = await Site.open(context.app, 'Dock', 'Hall')
  const signIn = async (role: keyof typeof tokens) => (await site.org.signIn(role)).accessToken
  tokens = {
    viewer: await signIn('viewer'),
    operator: await signIn('operator'),
    manager: await signIn('manager'),
    admin: await signIn('admin'),
  }
})

describe('adding a reader', () => {
  it('answers with the reader, the ingest URLs and, this once, the token', async () => {
    const [dock, hall] = site.locations
    const scan_points = [
      { antenna: 2, location_id: hall!.id },
      { antenna: 1, location_id: dock!.id },
      { antenna: 3, location_id: null },
    ]
    const reply = await send('POST', path, { json: { name: 'Gate', format: 'impinj', clock: 'server', scan_points } })
    expect(reply.status).toBe(201)
    const { id, token, previous_token_expires_at: previousTokenExpiresAt, ingest_url, mqtt, ...rest } = reply.json.data
    expect(previousTokenExpiresAt).toBeNull()
    expect(reply.headers['location']).toBe(`/api/v1/readers/${id}`)
    expect(token).toMatch(/^lsd_[0-9a-f]{48}$/)
    expect(ingest_url).toMatch(/\/ingest\/v1\/reads$/)
    expect(mqtt).toMatchObject({ username: String(id), password: token })
    expect(mqtt.topic).not.toContain(token)
    expect(rest).toEqual({
      name: 'Gate',
      format: 'impinj',
      clock: 'server',
      smoothing: null,
      created_at: now,
      last_seen_at: null,
      messages: 0,
      reads: 0,
      ignored: 0,
      warning: null,
      scan_points: [
        { antenna: 1, location_id: dock!.id, location_external_key: 'DOCK' },
        { antenna: 2, location_id: hall!.id, location_external_key: 'HALL' },
        { antenna: 3, location_id: null, location_external_key: null },
      ],
      unknown_antennas: [],
    })
    const again = await send('GET', `${path}/${id}`)
    expect(again.json.data).toEqual({ id, ...rest })
    expect(again.text).not.toContain(token)
  })

  it('needs only a name; by default the format is detected and the reader’s clock is trusted', async () => {
    expect(await made({ name: 'Plain' })).toMatchObject({ format: 'auto', clock: 'reader', scan_points: [] })
  })

  it('accepts smoothing, keeps it through other changes, replaces it as a whole and disables it with null', async () => {
    const { id, smoothing } = await made({ name: 'Hall', smoothing: { reads: 3, seconds: 30, margin_db: 6 } })
    expect(smoothing).toEqual({ reads: 3, seconds: 30, margin_db: 6 })
    const change = async (json: object) => {
      const reply = await send('PATCH', `${path}/${id}`, { json })
      expect(reply.status).toBe(200)
      expect((await send('GET', `${path}/${id}`)).json.data).toEqual(reply.json.data)
      return reply.json.data.smoothing
    }
    expect(await change({ name: 'Hall 2' })).toEqual({ reads: 3, seconds: 30, margin_db: 6 })
    expect(await change({ smoothing: { reads: 2, seconds: 3600 } })).toEqual({
      reads: 2,
      seconds: 3600,
      margin_db: null,
    })
    expect(await change({ smoothing: null })).toBe(null)
  })

  it('stores the token only as a hash', async () => {
    const { token } = await made({ name: 'Secret' })
    const rows = await database(
      context.app,
    )`select r::text as line from readers r union all select d::text from reader_directory d`
    expect(rows.some((row) => String(row['line']).includes(token))).toBe(false)
  })

  it.each<[string, object, { field: string; code: string; params?: Record<string, string | number> }[]]>([
    ['no name', {}, [{ field: 'name', code: 'required' }]],
    ['an empty name', { name: '' }, [{ field: 'name', code: 'too_short', params: { min_length: 1 } }]],
    ['a long name', { name: 'x'.repeat(256) }, [{ field: 'name', code: 'too_long', params: { max_length: 255 } }]],
    ['a null name', { name: null }, [{ field: 'name', code: 'invalid_value' }]],
    ['an unknown format', { name: 'a', format: 'acme' }, [{ field: 'format', code: 'invalid_value' }]],
    ['an unknown clock', { name: 'a', clock: 'sun' }, [{ field: 'clock', code: 'invalid_value' }]],
    ['smoothing that is no object', { name: 'a', smoothing: 3 }, [{ field: 'smoothing', code: 'invalid_value' }]],
    [
      'smoothing without its numbers',
      { name: 'a', smoothing: {} },
      [
        { field: 'smoothing.reads', code: 'required' },
        { field: 'smoothing.seconds', code: 'required' },
      ],
    ],
    [
      'smoothing by one read, for too long and by no margin',
      { name: 'a', smoothing: { reads: 1, seconds: 3601, margin_db: 0 } },
      [
        { field: 'smoothing.reads', code: 'too_small', params: { min: 2 } },
        { field: 'smoothing.seconds', code: 'too_large', params: { max: 3600 } },
        { field: 'smoothing.margin_db', code: 'too_small', params: { min: 1 } },
      ],
    ],
    [
      'smoothing by parts of a read',
      { name: 'a', smoothing: { reads: 2.5, seconds: 30 } },
      [{ field: 'smoothing.reads', code: 'invalid_value' }],
    ],
    [
      'smoothing with a key it does not know',
      { name: 'a', smoothing: { reads: 2, seconds: 30, windows: 1 } },
      [{ field: 'smoothing.windows', code: 'unknown_field' }],
    ],
    ['a token of one’s own', { name: 'a', token: 'x' }, [{ field: 'token', code: 'unknown_field' }]],
    [
      'an antenna 0',
      { name: 'a', scan_points: [{ antenna: 0, location_id: null }] },
      [{ field: 'scan_points[0].antenna', code: 'too_small', params: { min: 1 } }],
    ],
    [
      'an antenna too high',
      { name: 'a', scan_points: [{ antenna: 65_536, location_id: null }] },
      [{ field: 'scan_points[0].antenna', code: 'too_large', params: { max: 65_535 } }],
    ],
    [
      'a scan point without its location',
      { name: 'a', scan_points: [{ antenna: 1 }] },
      [{ field: 'scan_points[0].location_id', code: 'required' }],
    ],
    [
      'a location that does not exist',
      {
        name: 'a',
        scan_points: [
          { antenna: 1, location_id: null },
          { antenna: 2, location_id: 99 },
        ],
      },
      [{ field: 'scan_points[1].location_id', code: 'fk_not_found' }],
    ],
  ])('rejects %s and adds nothing', async (_, json, problems) => {
    const before = (await send('GET', path)).json.total_count
    const reply = await send('POST', path, { json })
    expect([reply.status, reply.json.error.type]).toEqual([400, 'validation_error'])
    expect(reply.json.error.fields).toMatchObject(problems)
    expect(reply.json.error.fields).toHaveLength(problems.length)
    expect((await send('GET', path)).json.total_count).toBe(before)
  })

  it('rejects a location of another organization and a deleted one', async () => {
    const other = await Site.open(context.app, 'Bay')
    const attic = await site.createLocation('Attic')
    await site.api.delete(`/api/v1/locations/${attic.id}`)
    for (const id of [other.locations[0]!.id, attic.id]) {
      const reply = await send('POST', path, { json: { name: 'a', scan_points: [{ antenna: 1, location_id: id }] } })
      expectApiError(reply, 400, 'validation_error', [{ field: 'scan_points[0].location_id', code: 'fk_not_found' }])
    }
  })

  it('rejects another media type, a broken body and a body that is too large', async () => {
    const raw = JSON.stringify({ name: 'a' })
    expectApiError(
      await send('POST', path, { raw, headers: { 'content-type': 'text/plain' } }),
      415,
      'unsupported_media_type',
    )
    expectApiError(
      await send('POST', path, { raw: '{', headers: { 'content-type': 'application/json' } }),
      400,
      'bad_request',
    )
    const huge = JSON.stringify({ name: 'a' }).padEnd(1024 * 1024 + 1)
    expectApiError(
      await send('POST', path, { raw: huge, headers: { 'content-type': 'application/json' } }),
      400,
      'bad_request',
    )
  })
})

describe('listing readers', () => {
  it('is ordered by name and paged, with the scan points of each', async () => {
    const other = await Site.open(context.app)
    const { accessToken } = await other.org.signIn('manager')
    for (const name of ['Beta', 'Alpha', 'Gamma'])
      await context.app.anonymous('POST', path, {
        token: accessToken,
        json: {
          name,
          scan_points: [
            { antenna: 1, location_id: null },
            { antenna: 2, location_id: null },
          ],
        },
      })
    const list = async (query: string) => (await context.app.anonymous('GET', path, { token: accessToken, query })).json
    const whole = await list('')
    expect(whole).toMatchObject({ limit: 50, offset: 0, total_count: 4 })
    expect(whole.data.map((one: { name: string }) => one.name)).toEqual(['Alpha', 'Beta', 'Gamma', 'Gate'])
    expect(whole.data[0].scan_points).toHaveLength(2)
    expect(whole.data[0]).not.toHaveProperty('token')
    const page = await list('limit=2&offset=1')
    expect([page.total_count, page.data.map((one: { name: string }) => one.name)]).toEqual([4, ['Beta', 'Gamma']])
    expect(await list('offset=9')).toMatchObject({ data: [], total_count: 4 })
  })

  it.each([
    ['limit=201', 'limit', 'too_large', { max: 200 }],
    ['limit=0', 'limit', 'too_small', { min: 1 }],
    ['sort=name', 'sort', 'unknown_field', undefined],
  ])('rejects ?%s', async (query, field, code, params) => {
    const problem = { field, code, ...(params === undefined ? {} : { params }) }
    expectApiError(await send('GET', path, { query }), 400, 'validation_error', [problem])
  })
})

describe('changing a reader', () => {
  it('changes the given fields and replaces the scan points as a whole', async () => {
    const [dock, hall] = site.locations
    const reader = await made({
      name: 'Before',
      scan_points: [
        { antenna: 1, location_id: dock!.id },
        { antenna: 2, location_id: dock!.id },
      ],
    })
    const json = { name: 'After', format: 'csl', scan_points: [{ antenna: 2, location_id: hall!.id }] }
    const reply = await send('PATCH', `${path}/${reader.id}`, { json })
    expect(reply.status).toBe(200)
    expect(reply.json.data).toMatchObject({ name: 'After', format: 'csl', clock: 'reader' })
    expect(reply.json.data.scan_points).toEqual([{ antenna: 2, location_id: hall!.id, location_external_key: 'HALL' }])
    expect((await send('GET', `${path}/${reader.id}`)).json).toEqual(reply.json)
    const same = await send('PATCH', `${path}/${reader.id}`, { json: {} })
    expect([same.status, same.json]).toEqual([200, reply.json])
  })

  it.each<[string, object, string, string]>([
    ['a null name', { name: null }, 'name', 'invalid_value'],
    ['an unknown format', { format: 'acme' }, 'format', 'invalid_value'],
    ['a key it does not know', { topic: 'x' }, 'topic', 'unknown_field'],
    [
      'a location that does not exist',
      { name: 'Changed', scan_points: [{ antenna: 1, location_id: 99 }] },
      'scan_points[0].location_id',
      'fk_not_found',
    ],
  ])('rejects %s and changes nothing', async (_, json, field, code) => {
    const reader = await made({ name: 'Steady', scan_points: [{ antenna: 1, location_id: site.locations[0]!.id }] })
    const before = (await send('GET', `${path}/${reader.id}`)).json
    const reply = await send('PATCH', `${path}/${reader.id}`, { json })
    expect([reply.status, reply.json.error.fields]).toMatchObject([400, [{ field, code }]])
    expect((await send('GET', `${path}/${reader.id}`)).json).toEqual(before)
  })

  it('rejects JSON that is not a merge patch', async () => {
    const reader = await made({ name: 'Media' })
    const reply = await send('PATCH', `${path}/${reader.id}`, {
      json: {},
      headers: { 'content-type': 'application/json' },
    })
    expectApiError(reply, 415, 'unsupported_media_type')
  })
})

describe('removing a reader', () => {
  it('answers 204, and 404 from then on', async () => {
    const reader = await made({
      name: 'Short-lived',
      scan_points: [{ antenna: 1, location_id: site.locations[0]!.id }],
    })
    const reply = await send('DELETE', `${path}/${reader.id}`)
    expect([reply.status, reply.text]).toEqual([204, ''])
    expectApiError(await send('DELETE', `${path}/${reader.id}`), 404, 'not_found')
    expectApiError(await send('GET', `${path}/${reader.id}`), 404, 'not_found')
    expectApiError(await send('PATCH', `${path}/${reader.id}`, { json: {} }), 404, 'not_found')
  })
})

describe('the activity of a reader', () => {
  it('is counted: messages, reads, ignored reads and the time of the last message', async () => {
    const { id, token } = await made({
      name: 'Busy',
      scan_points: [{ antenna: 1, location_id: site.locations[0]!.id }],
    })
    const pallet = await site.createAsset('Pallet')
    await site.post([{ tag: pallet.tag }, { tag: 'ABCDEF0123456789' }, { antenna: 1 }], token)
    await site.post([{ tag: pallet.tag }], token)
    await site.post([], token)
    await eventually(async () =>
      expect((await send('GET', `${path}/${id}`)).json.data).toMatchObject({
        last_seen_at: now,
        messages: 3,
        reads: 2,
        ignored: 2,
        warning: null,
      }),
    )
  })

  it('includes a warning that the reader sent', async () => {
    const { id, token } = await made({ name: 'Overrun' })
    const overflow = { timestamp: now, hostname: 'impinj-1', eventType: 'overflow', overflowEvent: {} }
    expect((await site.post([overflow], token)).status).toBe(202)
    await eventually(async () => expect((await send('GET', `${path}/${id}`)).json.data.warning).toMatch(/lost events/))
  })
})
