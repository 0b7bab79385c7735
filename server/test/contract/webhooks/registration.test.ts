import { beforeEach, describe, expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import { ManualClock, useSql } from '../../support/auth.ts'
import { type FieldEntry, expectApiError } from '../../support/error-response.ts'
import { WebhookOrg } from '../../support/webhooks.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSql(context)
const url = 'https://hooks.example.com/in'
const secretPattern = /^whsec_[A-Za-z0-9+/]{48}$/

let webhookOrg: WebhookOrg
beforeEach(async () => {
  webhookOrg = await WebhookOrg.open(context.app)
})

const rows = () => database.sql`select * from webhooks where org_id = ${webhookOrg.orgId}`
const hmacTag = (): string => new Date(clock.millis()).toISOString()

describe('POST /api/v1/webhooks', () => {
  it('answers 201 with the webhook and its secret, which is shown only once', async () => {
    const reply = await webhookOrg.send('POST', '', { json: { url } })
    expect(reply.status).toBe(201)
    const { secret, ...webhook } = reply.json.data
    expect(secret).toMatch(secretPattern)
    expect(webhook).toEqual({
      id: expect.any(Number),
      url,
      enabled: true,
      secret_masked: `whsec_••••••••${secret.slice(-4)}`,
      failing_since: null,
      created_at: hmacTag(),
      updated_at: hmacTag(),
    })
    expect(reply.headers['location']).toBe(`/api/v1/webhooks/${webhook.id}`)
    expect(reply.headers['cache-control']).toBe('private, no-store')
    for (const later of [await webhookOrg.send('GET', ''), await webhookOrg.send('GET', `/${webhook.id}`)]) {
      expect(later.text).not.toContain(secret)
      expect([later.json.data].flat()).toEqual([webhook])
    }
  })

  it('stores the secret encrypted, with a random nonce and bound to its webhook', async () => {
    await webhookOrg.register(url)
    const [row] = await rows()
    const kept = Buffer.from(row!['encrypted_secret'] as Uint8Array)
    for (const form of ['utf8', 'latin1', 'base64', 'hex'] as const) {
      const shown = kept.toString(form)
      expect(shown).not.toContain(webhookOrg.secret)
      expect(shown).not.toContain(Buffer.from(webhookOrg.secret).toString(form))
    }
    const other = await WebhookOrg.open(context.app)
    await other.register(url)
    expect(other.secret).not.toBe(webhookOrg.secret)
    await database.sql`update webhooks set encrypted_secret = ${kept} where org_id = ${other.orgId}`
    expect((await other.send('GET', '')).status).toBe(500)
  })

  it('creates a disabled webhook on request', async () => {
    const reply = await webhookOrg.send('POST', '', { json: { url, enabled: false } })
    expect(reply.json.data.enabled).toBe(false)
  })

  it('answers 409 to a second webhook and does not change the first', async () => {
    await webhookOrg.register(url)
    const before = await rows()
    const reply = await webhookOrg.send('POST', '', { json: { url: 'https://other.example.com/' } })
    expectApiError(reply, 'conflict', { detail: 'The organization already has a webhook' })
    expect(await rows()).toEqual(before)
  })

  it.each([
    'HTTPS://HOOKS.example.com',
    'https://localhost/',
    'https://127.0.0.1:8443/x?y=z#f',
    'https://[::1]/',
    'https://bücher.example/пуск',
    `https://hooks.example.com/${'x'.repeat(2048 - 26)}`,
  ])('accepts %s: only scheme and host are checked here [D51]', async (given) => {
    const reply = await webhookOrg.send('POST', '', { json: { url: given } })
    expect(reply.status, reply.text).toBe(201)
    expect(reply.json.data.url).toBe(given)
  })

  const invalid = (field = 'url'): FieldEntry => ({ field, code: 'invalid_value' })
  const wrongType = (field: string, expected: string, received: string): FieldEntry => ({
    ...invalid(field),
    params: { expected_type: expected, received_type: received },
  })
  it.each<[string, object, FieldEntry]>([
    ['no address', {}, { field: 'url', code: 'required' }],
    ['null', { url: null }, wrongType('url', 'string', 'null')],
    ['a number', { url: 7 }, wrongType('url', 'string', 'integer')],
    ['an empty address', { url: '' }, { field: 'url', code: 'too_short', params: { min_length: 1 } }],
    ['plain http', { url: 'http://hooks.example.com/' }, invalid()],
    ['another scheme', { url: 'ftp://hooks.example.com/' }, invalid()],
    ['no scheme', { url: 'hooks.example.com' }, invalid()],
    ['no host', { url: 'https:///path' }, invalid()],
    ['a scheme alone', { url: 'https://' }, invalid()],
    ['one slash', { url: 'https:/hooks.example.com' }, invalid()],
    ['backslashes', { url: 'https:\\\\hooks.example.com' }, invalid()],
    ['a space before it', { url: ' https://hooks.example.com' }, invalid()],
    ['a host that is none', { url: 'https://ex ample/' }, invalid()],
    ['a port that is none', { url: 'https://hooks.example.com:99999/' }, invalid()],
    ['a user name', { url: 'https://me@hooks.example.com/' }, invalid()],
    ['a password', { url: 'https://:hush@hooks.example.com/' }, invalid()],
    ['a line break', { url: 'https://hooks.example.com/\n' }, invalid()],
    [
      '2049 characters',
      { url: `https://hooks.example.com/${'x'.repeat(2049 - 26)}` },
      { field: 'url', code: 'too_long', params: { max_length: 2048 } },
    ],
    ['enabled as text', { url, enabled: 'yes' }, wrongType('enabled', 'boolean', 'string')],
    ['a key it does not know', { url, secret: 'whsec_mine' }, { field: 'secret', code: 'unknown_field' }],
    ['a filter of events', { url, events: ['asset.moved'] }, { field: 'events', code: 'unknown_field' }],
  ])('rejects %s, and nothing is created [D51]', async (_what, json, field) => {
    const reply = await webhookOrg.send('POST', '', { json })
    expectApiError(reply, 'validation_error', { fields: [field] })
    expect(await rows()).toHaveLength(0)
  })
})

describe('GET /api/v1/webhooks', () => {
  it('is a list with at most one webhook', async () => {
    expect((await webhookOrg.send('GET', '')).json).toEqual({ data: [], limit: 50, offset: 0, total_count: 0 })
    await webhookOrg.register(url)
    const one = await webhookOrg.send('GET', '')
    expect(one.json).toMatchObject({ data: [{ id: webhookOrg.webhookId }], total_count: 1 })
    const beyond = await webhookOrg.send('GET', '', { query: 'offset=1' })
    expect(beyond.json).toEqual({ data: [], limit: 50, offset: 1, total_count: 1 })
  })

  it('states the first failed attempt after the last success and after the last change as failing_since', async () => {
    await webhookOrg.register(url)
    const minutes = (count: number): string => new Date(clock.millis() + count * 60_000).toISOString()
    const attempt = (at: number, status: number | null) => database.sql`
      insert into webhook_attempts (org_id, attempted_at, delivery_id, attempt, webhook_id, event, status, duration_ms)
      values (${webhookOrg.orgId}, ${minutes(at)}, gen_random_uuid(), 1, ${webhookOrg.webhookId}, 'asset.moved', ${status}, 5)`
    const failingSince = async () => {
      const list = (await webhookOrg.send('GET', '')).json.data[0].failing_since
      expect((await webhookOrg.send('GET', `/${webhookOrg.webhookId}`)).json.data.failing_since).toBe(list)
      return list
    }
    await attempt(-1, 500)
    expect(await failingSince(), 'an attempt before the last change').toBeNull()
    await attempt(1, null)
    for (let at = 2; at < 40; at++) await attempt(at, 302)
    expect(await failingSince()).toBe(minutes(1))
    await attempt(40, 204)
    expect(await failingSince()).toBeNull()
    await attempt(41, 503)
    await attempt(42, null)
    expect(await failingSince()).toBe(minutes(41))
  })
})

describe('PATCH /api/v1/webhooks/{webhook_id}', () => {
  const patch = (json: unknown) => webhookOrg.send('PATCH', `/${webhookOrg.webhookId}`, { json })

  it('changes only the given fields', async () => {
    await webhookOrg.register(url)
    const before = (await webhookOrg.send('GET', `/${webhookOrg.webhookId}`)).json.data
    clock.advance(5)
    const off = await patch({ enabled: false })
    expect(off.json.data).toEqual({ ...before, enabled: false, updated_at: hmacTag() })
    clock.advance(5)
    const moved = await patch({ url: 'https://other.example.com/' })
    expect(moved.json.data).toMatchObject({ enabled: false, url: 'https://other.example.com/', updated_at: hmacTag() })
    expect(moved.json.data.secret_masked).toBe(before.secret_masked)
    expect((await webhookOrg.send('GET', `/${webhookOrg.webhookId}`)).json.data).toEqual(moved.json.data)
  })

  it('accepts an empty change', async () => {
    await webhookOrg.register(url)
    expect((await patch({})).status).toBe(200)
  })

  it.each<[string, object, FieldEntry]>([
    ['plain http', { url: 'http://hooks.example.com/' }, { field: 'url', code: 'invalid_value' }],
    ['no address', { url: null }, { field: 'url', code: 'invalid_value' }],
    ['no switch', { enabled: null }, { field: 'enabled', code: 'invalid_value' }],
    ['another secret', { secret: 'whsec_mine' }, { field: 'secret', code: 'unknown_field' }],
  ])('rejects %s, and nothing changes', async (_what, json, field) => {
    await webhookOrg.register(url)
    const before = await rows()
    const reply = await patch(json)
    expect([reply.status, reply.json.error.type]).toEqual([400, 'validation_error'])
    expect(reply.json.error.fields).toMatchObject([field])
    expect(await rows()).toEqual(before)
  })
})

describe('DELETE /api/v1/webhooks/{webhook_id}', () => {
  it('answers 204, and 404 the second time; a new webhook has a new secret', async () => {
    await webhookOrg.register(url)
    const old = { id: webhookOrg.webhookId, secret: webhookOrg.secret }
    expect((await webhookOrg.send('DELETE', `/${old.id}`)).status).toBe(204)
    expectApiError(await webhookOrg.send('DELETE', `/${old.id}`), 'not_found', { detail: 'Webhook not found' })
    expect(await rows()).toHaveLength(0)
    await webhookOrg.register(url)
    expect(webhookOrg.webhookId).not.toBe(old.id)
    expect(webhookOrg.secret).not.toBe(old.secret)
  })
})

const operations: [string, string, object][] = [
  ['GET', '', {}],
  ['PATCH', '', { json: { enabled: false } }],
  ['DELETE', '', {}],
  ['POST', '/test', {}],
  ['GET', '/attempts', {}],
]

describe('a webhook that does not exist', () => {
  it.each(operations)('is 404 to %s /webhooks/{webhook_id}%s', async (method, path, options) => {
    const reply = await webhookOrg.send(method, `/4503599627370497${path}`, options)
    expectApiError(reply, 'not_found', { detail: 'Webhook not found' })
  })

  it.each(operations)('in this organization is 404 to %s /webhooks/{webhook_id}%s', async (...row) => {
    const [method, path, options] = row
    const other = await WebhookOrg.open(context.app)
    await other.register(url)
    const before = await database.sql`select * from webhooks where org_id = ${other.orgId}`
    expectApiError(await webhookOrg.send(method, `/${other.webhookId}${path}`, options), 'not_found')
    await webhookOrg.register('https://mine.example.com/')
    expectApiError(await webhookOrg.send(method, `/${other.webhookId}${path}`, options), 'not_found')
    expect(await database.sql`select * from webhooks where org_id = ${other.orgId}`).toEqual(before)
  })
})

describe('access to webhooks', () => {
  it.each(['viewer', 'operator', 'manager'] as const)('is denied to a %s (D39)', async (role) => {
    await webhookOrg.register(url)
    const { accessToken: token } = await webhookOrg.site.org.signIn(role)
    const before = await rows()
    const all: [string, string, object][] = operations.map(([method, path, more]) => [
      method,
      `/${webhookOrg.webhookId}${path}`,
      more,
    ])
    for (const [method, path, options] of [
      ...all,
      ['GET', '', {}] as const,
      ['POST', '', { json: { url } }] as const,
    ]) {
      const reply = await webhookOrg.send(method, path, { ...options, token })
      expectApiError(reply, 'forbidden', { detail: 'Missing required scope: webhooks:admin' })
    }
    expect(await rows()).toEqual(before)
  })

  it('is denied to API credentials, whatever their scopes', async () => {
    await webhookOrg.register(url)
    const token = await webhookOrg.site.org.full.token()
    expectApiError(await webhookOrg.send('GET', '', { token }), 'forbidden')
  })

  it('is granted to admins, who can neither read nor rotate the secret', async () => {
    await webhookOrg.register(url)
    for (const path of ['/secret', '/rotate', '/secret/rotate'])
      for (const method of ['GET', 'POST'])
        expectApiError(await webhookOrg.send(method, `/${webhookOrg.webhookId}${path}`), 'not_found')
    const { json } = await webhookOrg.send('GET', `/${webhookOrg.webhookId}`)
    expect(json.data.secret_masked).toBe(`whsec_••••••••${webhookOrg.secret.slice(-4)}`)
  })
})
