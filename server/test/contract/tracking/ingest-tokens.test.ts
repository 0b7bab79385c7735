import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type TestApp, startApp } from '../../support/app.ts'
import { Site, type SiteAsset, database, eventually, expectApiError, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const path = '/ingest/v1/reads'
const unknownToken = `lsd_${'0'.repeat(48)}`

let site: Site
let pallet: SiteAsset
let second: TestApp
let manager: string
let minute = 0

beforeAll(async () => {
  site = await Site.open(context.app, 'Dock', 'Hall')
  pallet = await site.createAsset('Pallet')
  second = await startApp({ sharesDatabaseWith: context.app, isOneOfSeveral: true, clock: context.clock })
  manager = (await site.org.signIn('manager')).accessToken
})
afterAll(() => second.stop())

/** A read of the pallet in a minute of its own. */
const message = (antenna = 1) => {
  minute++
  const clock = `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
  return [{ tag: pallet.tag, antenna, observed_at: `2026-05-04T${clock}:00Z` }]
}

const newReader = () => site.createReader({ scanPoints: [{ antenna: 1, locationId: site.locations[0]!.id }] })

describe('a reader’s token', () => {
  it('is accepted in the header', async () => {
    const { token } = await newReader()
    expect((await site.post(message(), token)).json).toEqual({ data: { accepted: 1, ignored: 0 } })
  })

  it('is accepted as the last path segment, without a header', async () => {
    const { token } = await newReader()
    const reply = await context.app.anonymous('POST', `${path}/${token}`, { json: message() })
    expect([reply.status, reply.json]).toEqual([202, { data: { accepted: 1, ignored: 0 } }])
  })

  it.each(['/ingest/v1/read/', '/ingest/v2/reads/', '/ingest/reads/', '//ingest/v1/reads/', '/INGEST/v1/reads/', '/'])(
    'is redacted in a mistyped path: %s',
    async (start) => {
      const secret = site.token.slice('lsd_'.length)
      for (const token of [site.token, site.token.toUpperCase(), `lsd%5F${secret}`]) {
        const reply = await context.app.anonymous('POST', start + token, { json: message() })
        expect(reply.status).toBe(404)
        // The log contains the path as the error shows it.
        expect(reply.json.error.instance).toBe(`${start}{secret}`)
        expect(reply.text.toLowerCase()).not.toContain(secret)
      }
    },
  )

  it.each<[string, () => Record<string, string>, string]>([
    ['no header', () => ({}), 'Missing authorization header'],
    ['an unknown token', () => ({ authorization: `Bearer ${unknownToken}` }), 'Invalid reader token'],
    ['an empty token', () => ({ authorization: 'Bearer ' }), 'Invalid or expired token'],
    ['two tokens', () => ({ authorization: 'Bearer a b' }), 'Invalid or expired token'],
    ['another scheme', () => ({ authorization: `Basic ${site.token}` }), 'Use Authorization: Bearer <token>'],
    ['another header', () => ({ 'x-api-key': site.token }), 'Use Authorization: Bearer <token>'],
    ['the token in capitals', () => ({ authorization: `Bearer ${site.token.toUpperCase()}` }), 'Invalid reader token'],
    ['a person’s token', () => ({ authorization: `Bearer ${manager}` }), 'Invalid reader token'],
  ])('is rejected with %s', async (_, headers, detail) => {
    const before = await site.history(pallet)
    const reply = await context.app.anonymous('POST', path, { json: message(), headers: headers() })
    expectApiError(reply, 401, 'unauthorized')
    expect(reply.json.error).toMatchObject({ detail, instance: path })
    expect(reply.headers['www-authenticate']).toBe('Bearer realm="service-api"')
    expect(reply.text).not.toContain(site.token)
    expect(await site.history(pallet)).toEqual(before)
  })

  it('is rejected before the message is parsed', async () => {
    expectApiError(
      await context.app.anonymous('POST', path, { token: unknownToken, raw: 'nonsense' }),
      401,
      'unauthorized',
    )
  })

  it('gives no access to the API', async () => {
    for (const target of ['/api/v1/assets', '/api/v1/readers', '/api/v1/orgs/me', '/api/v1/live'])
      expectApiError(await context.app.anonymous('GET', target, { token: site.token }), 401, 'unauthorized')
  })
})

describe('a token in the path', () => {
  const rejections: [string, string, (token: string) => string, object, number][] = [
    ['it is unknown', 'POST', () => `${path}/${unknownToken}`, { json: [] }, 401],
    ['the message is in no known format', 'POST', (token) => `${path}/${token}`, { raw: 'nonsense' }, 400],
    ['the message is too large', 'POST', (token) => `${path}/${token}`, { raw: ' '.repeat(1024 * 1024 + 1) }, 400],
    ['the method is wrong', 'GET', (token) => `${path}/${token}`, {}, 405],
    ['a slash follows it', 'POST', (token) => `${path}/${token}/`, { json: [] }, 404],
    ['something else follows it', 'POST', (token) => `${path}/${token}/more`, { json: [] }, 404],
  ]
  it.each(rejections)('is redacted in the response when %s', async (_, method, address, options, status) => {
    const { token } = await newReader()
    const reply = await context.app.anonymous(method, address(token), options)
    expect(reply.status).toBe(status)
    expect(reply.text).not.toContain(token)
    expect(reply.text).not.toContain(unknownToken)
    expect(reply.json.error.instance).not.toContain('lsd_')
    expect(JSON.stringify(reply.headers)).not.toContain(token)
  })

  it('is rejected with 401 when it is unknown, however it is written', async () => {
    for (const part of [unknownToken, 'x', '%00', '%', encodeURIComponent('ä/b')]) {
      const reply = await context.app.anonymous('POST', `${path}/${part}`, { json: message() })
      expectApiError(reply, 401, 'unauthorized')
      expect(reply.headers['www-authenticate']).toBe('Bearer realm="service-api"')
    }
  })
})

describe('a reader that was deleted', () => {
  const remove = async (readerId: number): Promise<void> => {
    const reply = await context.app.anonymous('DELETE', `/api/v1/readers/${readerId}`, { token: manager })
    expect(reply.status).toBe(204)
  }

  it('is rejected at once', async () => {
    for (let round = 0; round < 10; round++) {
      const { token, readerId } = await newReader()
      expect((await site.post(message(), token)).status).toBe(202)
      await remove(readerId)
      const before = await site.history(pallet)
      expectApiError(await site.post(message(), token), 401, 'unauthorized')
      expect(await site.history(pallet)).toEqual(before)
    }
  })

  it('changes nothing through another process that has it cached, which rejects it once it receives the event', async () => {
    for (let round = 0; round < 20; round++) {
      const { token, readerId } = await newReader()
      expect((await site.post(message(), token, second)).status).toBe(202)
      await remove(readerId)
      const before = await site.history(pallet)
      const racing = await site.post(message(), token, second)
      if (racing.status === 202) expect(racing.json).toEqual({ data: { accepted: 0, ignored: 1 } })
      await eventually(async () => expectApiError(await site.post(message(), token, second), 401, 'unauthorized'), 1000)
      expectApiError(await second.anonymous('POST', `${path}/${token}`, { json: message() }), 401, 'unauthorized')
      expect(await site.history(pallet)).toEqual(before)
    }
  })

  it('does not affect its recorded reads', async () => {
    const { token, readerId } = await newReader()
    await site.post(message(), token)
    const before = await site.history(pallet)
    await remove(readerId)
    expect(await site.history(pallet)).toEqual(before)
  })
})

describe('a reader whose token was replaced by POST /readers/{reader_id}/token', () => {
  const rotate = (readerId: number, token = manager) =>
    context.app.anonymous('POST', `/api/v1/readers/${readerId}/token`, { token })

  it('is accepted with the new token alone, at once and in every process, and keeps its settings', async () => {
    const { token, readerId } = await newReader()
    for (const app of [context.app, second]) expect((await site.post(message(), token, app)).status).toBe(202)
    const before = await context.app.anonymous('GET', `/api/v1/readers/${readerId}`, { token: manager })
    const reply = await rotate(readerId)
    expect([reply.status, reply.json.data.token]).toEqual([200, expect.stringMatching(/^lsd_/)])
    expect(reply.json.data.token).not.toBe(token)
    expect(reply.json.data).toMatchObject({
      name: before.json.data.name,
      scan_points: before.json.data.scan_points,
      mqtt: { username: String(readerId), password: reply.json.data.token },
    })
    for (const app of [context.app, second]) {
      expectApiError(await site.post(message(), token, app), 401, 'unauthorized')
      expect((await site.post(message(), reply.json.data.token as string, app)).status).toBe(202)
    }
  })

  it('is replaced by managers of its own organization only', async () => {
    const { token, readerId } = await newReader()
    const other = await Site.open(context.app, 'Elsewhere')
    expectApiError(await rotate(readerId, (await other.org.signIn('admin')).accessToken), 404, 'not_found')
    expectApiError(await rotate(readerId, (await site.org.signIn('operator')).accessToken), 403, 'forbidden')
    expectApiError(await rotate(4_503_599_627_370_497), 404, 'not_found')
    expect((await site.post(message(), token)).status).toBe(202)
  })
})

describe('a reader whose token was replaced with an overlap', () => {
  const rotate = async (readerId: number, seconds: number): Promise<{ token: string; until: string }> => {
    const target = `/api/v1/readers/${readerId}/token?overlap_seconds=${seconds}`
    const reply = await context.app.anonymous('POST', target, { token: manager })
    expect(reply.status).toBe(200)
    return { token: reply.json.data.token, until: reply.json.data.previous_token_expires_at }
  }
  const start = '2026-05-04T12:00:00Z'
  afterEach(() => context.clock.set(start))
  const expectStatus = async (token: string, status: number): Promise<void> => {
    for (const app of [context.app, second]) {
      expect((await site.post(message(), token, app)).status).toBe(status)
      expect((await app.anonymous('POST', `${path}/${token}`, { json: message() })).status).toBe(status)
    }
  }

  it('is accepted with both tokens until the overlap is over, and with the new one alone afterwards, in every process', async () => {
    const { token: old, readerId } = await newReader()
    await expectStatus(old, 202)
    const { token, until } = await rotate(readerId, 3600)
    expect(until).toBe('2026-05-04T13:00:00.000Z')
    await expectStatus(old, 202)
    await expectStatus(token, 202)
    context.clock.set('2026-05-04T12:59:59.999Z')
    await expectStatus(old, 202)
    context.clock.set('2026-05-04T13:00:00Z')
    await expectStatus(old, 401)
    await expectStatus(token, 202)
  })

  it('has at most two valid tokens: a second rotation ends the oldest one at once', async () => {
    const { token: first, readerId } = await newReader()
    const next = await rotate(readerId, 3600)
    await expectStatus(first, 202)
    const last = await rotate(readerId, 600)
    await expectStatus(first, 401)
    await expectStatus(next.token, 202)
    const only = await rotate(readerId, 0)
    expect(only.until).toBeNull()
    await expectStatus(next.token, 401)
    await expectStatus(last.token, 401)
    await expectStatus(only.token, 202)
  })

  it('loses both tokens at once when it is deleted', async () => {
    const { token: old, readerId } = await newReader()
    const { token } = await rotate(readerId, 3600)
    await expectStatus(old, 202)
    await context.app.anonymous('DELETE', `/api/v1/readers/${readerId}`, { token: manager })
    await expectStatus(old, 401)
    await expectStatus(token, 401)
  })

  it.each([
    ['-1', 400],
    ['604800', 200],
    ['604801', 400],
    ['1h', 400],
  ])('takes an overlap of at most seven days: %s seconds are answered %i', async (seconds, status) => {
    const { token, readerId } = await newReader()
    const target = `/api/v1/readers/${readerId}/token?overlap_seconds=${seconds}`
    expect((await context.app.anonymous('POST', target, { token: manager })).status).toBe(status)
    await expectStatus(token, 202)
  })
})

describe('a reader that was changed', () => {
  const change = async (readerId: number, json: object): Promise<void> => {
    const reply = await context.app.anonymous('PATCH', `/api/v1/readers/${readerId}`, { token: manager, json })
    expect(reply.status).toBe(200)
  }
  const location = async (): Promise<string | null> => (await site.assetLocations())['PALLET']![0]

  it('uses its new scan points from the next read on, in every process', async () => {
    const { token, readerId } = await newReader()
    for (const app of [context.app, second]) {
      for (const [index, key] of [
        [0, 'DOCK'],
        [1, 'HALL'],
        [0, 'DOCK'],
      ] as const) {
        await change(readerId, { scan_points: [{ antenna: 1, location_id: site.locations[index]!.id }] })
        expect((await site.post(message(), token, app)).status).toBe(202)
        expect(await location()).toBe(key)
      }
      await change(readerId, { scan_points: [] })
      expect((await site.post(message(), token, app)).status).toBe(202)
      expect(await location()).toBeNull()
    }
  })

  it('is decoded in its new format from the next message on', async () => {
    const { token, readerId } = await newReader()
    expect((await site.post(message(), token)).json.data.accepted).toBe(1)
    await change(readerId, { format: 'impinj' })
    const before = await site.history(pallet)
    await site.post(message(), token)
    expect(await site.history(pallet)).toEqual(before)
    await change(readerId, { format: 'auto' })
    expect((await site.post(message(), token)).json.data.accepted).toBe(1)
  })
})

describe('a process that lost its notification connection', () => {
  it('discards its cached readers once it listens again', async () => {
    const { token, readerId } = await newReader()
    expect((await site.post(message(), token, second)).status).toBe(202)
    const sql = database(context.app)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen %'`
    await sql`delete from scan_points where reader_id = ${readerId}`
    await sql`delete from readers where id = ${readerId}`
    await sql`delete from reader_directory where reader_id = ${readerId}`
    await eventually(async () => expectApiError(await site.post(message(), token, second), 401, 'unauthorized'))
  })
})
