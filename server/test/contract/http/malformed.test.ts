import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { errorTypes, expectCommonHeaders, expectApiError, ulidPattern } from '../../support/error-response.ts'
import { RawConnection, sendRaw } from '../../support/raw-http.ts'

const context = useApp()
let full: Client

beforeAll(async () => {
  full = (await context.app.newOrg()).full
})

const closedSet = new Set<number>([200, 201, 204, 301, ...Object.values(errorTypes).map((one) => one.status)])

/** Sends bytes, reads the response, and expects that the connection then ends. */
async function sendBytes(bytes: string | Buffer) {
  const wire = await RawConnection.open(context.app.url)
  wire.write(bytes)
  const reply = await wire.readResponse()
  const rest = await wire.remainingText()
  wire.close()
  expect(reply, 'an answer').not.toBeNull()
  return { reply: reply!, rest }
}

const host = 'Host: a\r\n'

describe('Bytes that are not HTTP', () => {
  it.each([
    ['words', 'hello\r\n\r\n'],
    ['noise', Buffer.from([0x00, 0xff, 0x80, 0x0d, 0x0a, 0x0d, 0x0a])],
    ['the start of a TLS handshake', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc])],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', `FETCH /api/v1/assets HTTP/1.1\r\n${host}\r\n`],
    ['a method in lower case', `get /api/v1/assets HTTP/1.1\r\n${host}\r\n`],
    ['a target without a slash', `GET api/v1/assets HTTP/1.1\r\n${host}\r\n`],
    ['a blank in the target', `GET /api/v1/ assets HTTP/1.1\r\n${host}\r\n`],
    ['an unknown version', `GET /api/v1/assets HTTP/9.9\r\n${host}\r\n`],
    ['a header without a colon', `GET /api/v1/assets HTTP/1.1\r\n${host}nonsense\r\n\r\n`],
    ['a header name with a blank', `GET /api/v1/assets HTTP/1.1\r\n${host}X Y: 1\r\n\r\n`],
    ['a control character in a header', `GET /api/v1/assets HTTP/1.1\r\n${host}X-A: a\x01b\r\n\r\n`],
    ['NUL in a header', `GET /api/v1/assets HTTP/1.1\r\n${host}X-A: a\0b\r\n\r\n`],
    ['a length that is no number', `POST /api/v1/assets HTTP/1.1\r\n${host}Content-Length: ten\r\n\r\n`],
    ['a negative length', `POST /api/v1/assets HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`],
    ['two lengths', `POST /api/v1/assets HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`],
    [
      'a length beside chunks',
      `POST /api/v1/assets HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a transfer coding without chunks', `POST /api/v1/assets HTTP/1.1\r\n${host}Transfer-Encoding: gzip\r\n\r\n`],
    ['headers of 20 KB', `GET /api/v1/assets HTTP/1.1\r\n${host}X-A: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['a path of 20 KB', `GET /api/v1/assets/${'9'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`],
    ['CONNECT', `CONNECT example.com:443 HTTP/1.1\r\n${host}\r\n`],
  ])(
    'are bad_request in the error envelope with all headers, and the connection is closed: %s',
    async (_what, bytes) => {
      const { reply, rest } = await sendBytes(bytes)
      expectApiError(reply, 'bad_request')
      expect(reply.headers['x-request-id']).toMatch(ulidPattern)
      expect([reply.headers['x-ratelimit-remaining'], reply.headers['connection']]).toEqual(['120', 'close'])
      expect(rest).toBe('')
    },
  )

  it('after a valid request are rejected on the same connection', async () => {
    const wire = await RawConnection.open(context.app.url)
    wire.request(['GET /healthz HTTP/1.1', 'Host: a'])
    expect((await wire.readResponse())?.status).toBe(200)
    wire.write('nonsense\r\n\r\n')
    expectApiError((await wire.readResponse())!, 'bad_request')
    expect(await wire.remainingText()).toBe('')
  })

  it('do not affect the next connection', async () => {
    await Promise.all(Array.from({ length: 50 }, () => sendBytes('\0\0\0\r\n\r\n')))
    expect((await full.get('/api/v1/orgs/me')).status).toBe(200)
  })
})

describe('An HTTP request that the service does not support', () => {
  it.each([
    ['HTTP/2.0 in the request line', 'GET /api/v1/assets HTTP/2.0\r\nHost: a\r\n\r\n'],
    ['no Host', 'GET /api/v1/assets HTTP/1.1\r\n\r\n'],
    ['an empty Host', 'GET /api/v1/assets HTTP/1.1\r\nHost:\r\n\r\n'],
    ['a Host twice', 'GET /api/v1/assets HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
    [
      'an Authorization twice',
      'GET /api/v1/assets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer a\r\n\r\n',
    ],
    ['a Host with a path', 'GET /api/v1/assets HTTP/1.1\r\nHost: a/b\r\n\r\n'],
    ['a Host with credentials', 'GET /api/v1/assets HTTP/1.1\r\nHost: me@a\r\n\r\n'],
    ['a Host with two ports', 'GET /api/v1/assets HTTP/1.1\r\nHost: a:80:90\r\n\r\n'],
    ['a Host with a blank', 'GET /api/v1/assets HTTP/1.1\r\nHost: a b\r\n\r\n'],
    [
      'a coding before the chunks',
      'POST /api/v1/assets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('is bad_request and closes the connection: %s [D49]', async (_what, bytes) => {
    const { reply, rest } = await sendBytes(bytes)
    expectApiError(reply, 'bad_request', { instance: '/api/v1/assets' })
    expect([reply.headers['connection'], rest]).toEqual(['close', ''])
  })

  it.each(['a', 'a:8080', 'a.example:', '127.0.0.1:1', '[::1]', '[::1]:8080', 'xn--a-b.example'])(
    'does not include a request with the Host %s',
    async (name) => {
      const reply = await sendRaw(context.app.url, ['GET /healthz HTTP/1.1', `Host: ${name}`])
      expect(reply.status).toBe(200)
    },
  )

  it.each([
    ['no Host', ['GET /api/v1/assets HTTP/1.1']],
    ['a coding before the chunks', ['POST /api/v1/assets HTTP/1.1', 'Host: a', 'Transfer-Encoding: gzip, chunked']],
  ])('is bad_request in the envelope: %s', async (_what, lines) => {
    const reply = await sendRaw(context.app.url, lines, lines.length > 1 ? '0\r\n\r\n' : '')
    expectApiError(reply, 'bad_request', { instance: '/api/v1/assets' })
  })

  it.each([
    ['an unknown Expect', 'Expect: 200-ok', '/api/v1/orgs/me'],
    ['an upgrade to WebSocket', 'Connection: Upgrade\r\nUpgrade: websocket', '/api/v1/orgs/me'],
    ['an upgrade to HTTP/2', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c', '/api/v1/orgs/me'],
    ['a range', 'Range: bytes=0-1', '/api/v1/orgs/me'],
    ['another representation', 'Accept: text/xml', '/api/v1/orgs/me'],
    ['a condition', 'If-None-Match: *', '/api/v1/orgs/me'],
    ['another method by header', 'X-HTTP-Method-Override: DELETE', '/api/v1/orgs/me'],
  ])('is answered as if the header were absent: %s', async (_what, header, path) => {
    const lines = [`GET ${path} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${await full.token()}`, header]
    const reply = await sendRaw(context.app.url, lines)
    expect([reply.status, Object.keys(reply.json)]).toEqual([200, ['data']])
    expectCommonHeaders(reply)
  })

  it('is rejected in the envelope like any other request when it also lacks a token', async () => {
    const reply = await sendRaw(context.app.url, ['GET /api/v1/assets HTTP/1.1', 'Host: a', 'Expect: nonsense'])
    expectApiError(reply, 'unauthorized')
  })
})

describe('An unusual but valid HTTP request', () => {
  const authorized = async (): Promise<string> => `Authorization: Bearer ${await full.token()}`

  it.each([
    ['with a length past the limit is refused before the body is sent', 99 * 1024 * 1024, 'bad_request'],
    ['without a token is refused before the body is sent', 12, 'unauthorized'],
  ] as const)('may wait for 100 Continue, and %s [D9]', async (_what, length, kind) => {
    const wire = await RawConnection.open(context.app.url)
    const token = kind === 'unauthorized' ? 'X-A: b' : await authorized()
    const lines = ['POST /api/v1/assets HTTP/1.1', 'Host: a', token, 'Content-Type: application/json']
    wire.request([...lines, `Content-Length: ${length}`, 'Expect: 100-continue'])
    const text = await wire.remainingText()
    wire.close()
    expect(text).not.toContain('100 Continue')
    expect(text).toContain(`"type":"${kind}"`)
    expect(text.toLowerCase()).toContain('connection: close')
  })

  it('may wait for 100 Continue before it sends its body', async () => {
    const wire = await RawConnection.open(context.app.url)
    const lines = ['POST /api/v1/assets HTTP/1.1', 'Host: a', await authorized(), 'Content-Type: application/json']
    wire.request([...lines, 'Content-Length: 12', 'Expect: 100-continue'])
    wire.write('{"name":"a"}')
    expect((await wire.readResponse())?.status).toBe(201)
    wire.close()
  })

  it('may be HTTP/1.0 without a Host', async () => {
    const reply = await sendRaw(context.app.url, ['GET /api/v1/orgs/me HTTP/1.0', await authorized()])
    expect(reply.status).toBe(200)
  })

  it('may arrive one byte at a time', async () => {
    const wire = await RawConnection.open(context.app.url)
    for (const byte of `GET /healthz HTTP/1.1\r\n${host}\r\n`) {
      wire.write(byte)
      await new Promise((resume) => setImmediate(resume))
    }
    expect((await wire.readResponse())?.status).toBe(200)
    wire.close()
  })

  it('may be pipelined, and responses are in order', async () => {
    const wire = await RawConnection.open(context.app.url)
    const authorization = await authorized()
    const paths = ['/api/v1/orgs/me', '/healthz', '/api/v1/nothing', '/api/v1/assets?nope=1', '/api/v1/assets']
    wire.write(paths.map((path) => `GET ${path} HTTP/1.1\r\n${host}${authorization}\r\n\r\n`).join(''))
    const statuses: (number | undefined)[] = []
    while (statuses.length < paths.length) statuses.push((await wire.readResponse())?.status)
    wire.close()
    expect(statuses).toEqual([200, 200, 404, 400, 200])
  })

  it('may be chunked with extensions and a trailer', async () => {
    const lines = ['POST /api/v1/assets HTTP/1.1', 'Host: a', await authorized(), 'Content-Type: application/json']
    const body = '6;x=1\r\n{"name\r\n6\r\n":"b"}\r\n0\r\nX-Trailer: 1\r\n\r\n'
    const reply = await sendRaw(context.app.url, [...lines, 'Transfer-Encoding: Chunked'], body)
    expect([reply.status, reply.json.data.name]).toEqual([201, 'b'])
  })

  it('keeps its connection open until the client asks to close it', async () => {
    const wire = await RawConnection.open(context.app.url)
    wire.request(['GET /healthz HTTP/1.1', 'Host: a'])
    expect((await wire.readResponse())?.headers['connection']).toBe('keep-alive')
    wire.request(['GET /healthz HTTP/1.1', 'Host: a', 'Connection: close'])
    expect((await wire.readResponse())?.headers['connection']).toBe('close')
    expect(await wire.remainingText()).toBe('')
  })
})

describe('Any request line', () => {
  const targets = [
    '*',
    '/',
    '/%',
    '/?',
    '/?%',
    '/api/v1/assets?%zz=%',
    '/api/v1/assets/%00',
    'http://a/api/v1/assets',
    '/#x',
  ]
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PURGE', 'M-SEARCH', 'MKCOL']

  it.each(methods)('with %s gets a status of the closed set and all headers', async (method) => {
    for (const target of targets) {
      const reply = await sendRaw(context.app.url, [`${method} ${target} HTTP/1.1`, 'Host: a'])
      expect([...closedSet, 302], `${method} ${target}`).toContain(reply.status)
      expectCommonHeaders(reply)
      if (reply.status >= 400 && method !== 'HEAD') expect(reply.json.error.status).toBe(reply.status)
    }
  })
})
