import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { ulidPattern } from '../../support/error-response.ts'
import { sendRaw } from '../../support/raw-http.ts'

const context = useApp()
let client: Client

beforeAll(async () => {
  const org = await context.app.newOrg()
  client = org.full
})

const addresses: [method: string, path: string, status: number][] = [
  ['GET', '/api/v1/assets', 200],
  ['GET', '/natural/api/v1/assets', 200],
  ['GET', '/natural/api/v1/assets/NOBODY', 404],
  ['GET', '/api/v1/assets/5', 404],
  ['GET', '/api/v1/nothing', 404],
  ['PUT', '/api/v1/assets', 405],
  ['POST', '/api/v1/assets', 415],
  ['OPTIONS', '/api/v1/assets', 204],
  ['GET', '/api/openapi.json', 200],
  ['GET', '/openapi.json', 301],
  ['GET', '/healthz', 200],
]

describe('X-Request-ID', () => {
  it.each(addresses)('is a new ULID on %s %s (%i)', async (method, path, status) => {
    const first = await client.send(method, path)
    const second = await client.send(method, path)
    expect(first.status).toBe(status)
    expect(first.headers['x-request-id']).toMatch(ulidPattern)
    expect(second.headers['x-request-id']).toMatch(ulidPattern)
    expect(first.headers['x-request-id']).not.toBe(second.headers['x-request-id'])
  })

  it.each(addresses)('is the value the client sent on %s %s (%i)', async (method, path, status) => {
    const reply = await client.send(method, path, { headers: { 'x-request-id': 'client-chose-this' } })
    expect([reply.status, reply.headers['x-request-id']]).toEqual([status, 'client-chose-this'])
  })

  it.each([
    ['one character', 'x'],
    ['the name of another format', '550e8400-e29b-41d4-a716-446655440000'],
    ['quotes and backslashes', '"a\\b"; drop table'],
    ['markup', '<script>alert(1)</script>'],
    ['an inner tab', 'a\tb'],
    ['a comma', 'a, b'],
    ['bytes beyond ASCII', 'caf\u00e9 \u00ff'],
    ['UTF-8 bytes', Buffer.from('日本').toString('latin1')],
    ['four thousand characters', 'y'.repeat(4000)],
  ])('is echoed unchanged when it is %s', async (_what, value) => {
    for (const path of ['/api/v1/assets', '/healthz', '/api/openapi.json']) {
      const reply = await sendRaw(context.app.url, [`GET ${path} HTTP/1.1`, 'Host: a', `X-Request-ID: ${value}`])
      expect(reply.headers['x-request-id']).toBe(value)
      if (path === '/api/v1/assets') expect(reply.json.error.request_id).toBe(value)
    }
  })

  it('is a ULID when the client sent an empty value', async () => {
    const reply = await sendRaw(context.app.url, ['GET /api/v1/assets HTTP/1.1', 'Host: a', 'X-Request-ID:'])
    expect(reply.headers['x-request-id']).toMatch(ulidPattern)
  })

  it('encodes the time of the request in its first ten characters', async () => {
    const before = Date.now()
    const reply = await context.app.anonymous('GET', '/healthz')
    const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
    let hmacTag = 0
    for (const digit of reply.headers['x-request-id']!.slice(0, 10)) hmacTag = hmacTag * 32 + digits.indexOf(digit)
    expect(hmacTag).toBeGreaterThanOrEqual(before)
    expect(hmacTag).toBeLessThanOrEqual(Date.now())
  })
})
