import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { expectCommonHeaders, expectApiError } from '../../support/error-response.ts'
import { type RawReply, sendRaw } from '../../support/raw-http.ts'

const context = useApp()

let full: Client
let authorization: string
beforeAll(async () => {
  full = (await context.app.newOrg()).full
  for (const name of ['A', 'B']) await full.post('/api/v1/assets', { external_key: name, name })
  authorization = `Authorization: Bearer ${await full.token()}`
})

const ask = (line: string, ...headers: readonly string[]): Promise<RawReply> =>
  sendRaw(context.app.url, [`${line} HTTP/1.1`, ...headers])

describe('A request target in absolute form', () => {
  it.each(['http://a', 'http://another.example:8080', 'HTTP://a', 'https://a', 'http://[::1]:80', 'http://user@a'])(
    'is supported: %s (RFC 9112 section 3.2.2) [D49]',
    async (origin) => {
      const reply = await ask(`GET ${origin}/api/v1/orgs/me`, 'Host: a', authorization)
      expect([reply.status, Object.keys(reply.json)]).toEqual([200, ['data']])
    },
  )

  it('carries its query [D49]', async () => {
    const reply = await ask('GET http://a/api/v1/assets?external_key=B&limit=5', 'Host: a', authorization)
    expect([reply.status, reply.json.data.map((one: { name: string }) => one.name)]).toEqual([200, ['B']])
    expectApiError(await ask('GET http://a/api/v1/assets?colour=red', 'Host: a', authorization), 'validation_error', {
      fields: [{ field: 'colour', code: 'unknown_field' }],
      instance: '/api/v1/assets',
    })
  })

  it('shows its path alone in instance: 404, 405 and 401 [D49]', async () => {
    const missing = await ask('GET http://a/api/v1/nothing?x=1', 'Host: a')
    expectApiError(missing, 'not_found', { instance: '/api/v1/nothing' })
    const wrong = await ask('PUT http://a/api/v1/assets', 'Host: a')
    expectApiError(wrong, 'method_not_allowed', {
      detail: 'Allowed methods: GET, HEAD, POST',
      instance: '/api/v1/assets',
    })
    expectApiError(await ask('GET http://a/api/v1/assets', 'Host: a'), 'unauthorized', { instance: '/api/v1/assets' })
  })

  it('supports CORS preflights [D49]', async () => {
    const headers = ['Host: a', 'Origin: https://b.example', 'Access-Control-Request-Method: GET']
    const reply = await ask('OPTIONS http://a/api/v1/assets', ...headers)
    expect(reply.status).toBe(204)
    expect(reply.headers['access-control-allow-methods']).toContain('PATCH')
    expectCommonHeaders(reply)
  })

  it('reaches pages outside the API, and the root when it has no path [D49]', async () => {
    expect((await ask('GET http://a/healthz', 'Host: a')).text).toBe('ok\n')
    const [bare, root] = [await ask('GET http://a', 'Host: a'), await ask('GET /', 'Host: a')]
    expect([bare.status, bare.headers['content-type']]).toEqual([root.status, root.headers['content-type']])
    expect((await ask('GET http://a?x=1', 'Host: a')).status).toBe(root.status)
  })

  it('works for writes: a create answers 201 [D49]', async () => {
    const body = '{"name":"C"}'
    const head = ['Host: a', authorization, 'Content-Type: application/json', `Content-Length: ${body.length}`]
    const lines = ['POST http://a/api/v1/assets HTTP/1.1', ...head]
    expect((await sendRaw(context.app.url, lines, body)).status).toBe(201)
  })

  it('is an unknown path when it has no host or another scheme', async () => {
    for (const target of ['http:///api/v1/assets', 'ftp://a/api/v1/assets'])
      expect([400, 404], target).toContain((await ask(`GET ${target}`, 'Host: a', authorization)).status)
  })
})

describe('The Host header', () => {
  it.each(['/api/v1/orgs/me', 'http://a/api/v1/orgs/me', '/healthz', '/api/v1/nothing'])(
    'is required in HTTP/1.1: GET %s without it is bad_request [D49]',
    async (target) => {
      expectApiError(await ask(`GET ${target}`, authorization), 'bad_request', {
        instance: target.replace('http://a', ''),
      })
    },
  )

  it.each([
    ['two of the same', ['Host: a', 'Host: a']],
    ['two different ones', ['Host: a', 'Host: b']],
    ['two in other letters', ['Host: a', 'hOST: a']],
    ['three, one of them empty', ['Host:', 'Host: a', 'Host: a']],
  ])('must not be repeated: %s are bad_request in the error envelope [D49]', async (_what, hosts) => {
    for (const line of ['GET /api/v1/orgs/me', 'GET http://a/api/v1/orgs/me', 'OPTIONS /api/v1/orgs/me'])
      expectApiError(await ask(line, ...hosts, authorization), 'bad_request', { instance: '/api/v1/orgs/me' })
  })

  it('must not be empty, and is optional in HTTP/1.0, where repeated ones are rejected too [D49]', async () => {
    expectApiError(await ask('GET /api/v1/orgs/me', 'Host:', authorization), 'bad_request')
    const old = ['GET /api/v1/orgs/me HTTP/1.0', authorization]
    expect((await sendRaw(context.app.url, old)).status).toBe(200)
    expectApiError(await sendRaw(context.app.url, [...old, 'Host: a', 'Host: a']), 'bad_request')
  })
})

describe('The Authorization header', () => {
  it.each([
    ['twice the same', () => [authorization, authorization]],
    ['a valid one before an invalid one', () => [authorization, 'Authorization: Bearer bad']],
    ['an invalid one before a valid one', () => ['Authorization: Bearer bad', authorization]],
    ['in other letters', () => [authorization, authorization.replace('Authorization', 'AUTHORIZATION')]],
    ['one empty', () => [authorization, 'Authorization:']],
  ])('must not be repeated: %s is bad_request, on both bases [D52]', async (_what, headers) => {
    for (const base of ['/api/v1', '/natural/api/v1']) {
      const reply = await ask(`GET ${base}/orgs/me`, 'Host: a', ...headers())
      expectApiError(reply, 'bad_request', { detail: 'The Authorization header appears more than once' })
      expect(reply.headers['x-ratelimit-remaining']).toBe('120')
    }
  })

  it('must not be repeated on public operations either [D52]', async () => {
    const lines = ['POST /api/v1/oauth/token HTTP/1.1', 'Host: a', authorization, authorization]
    const reply = await sendRaw(
      context.app.url,
      [...lines, 'Content-Length: 2', 'Content-Type: application/json'],
      '{}',
    )
    expectApiError(reply, 'bad_request')
  })
})
