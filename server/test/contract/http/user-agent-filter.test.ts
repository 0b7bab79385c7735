import { describe, expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import { expectApiError } from '../../support/error-response.ts'
import { RawConnection, sendRaw } from '../../support/raw-http.ts'

const filtered = useApp({ settings: { LASTSEEN_EDGE_FILTER: 'true' } })
const open = useApp()

const rejected = [
  'curl/8.5.0',
  'CURL/7',
  'python-requests/2.32.3',
  'Python-urllib/3.12',
  'Go-http-client/1.1',
  'Go-http-client/2.0',
  'node',
  'undici',
  'axios/1.7.2',
  'okhttp/4.12.0',
  'Java/21.0.2',
  'libwww-perl/6.72',
  '',
  '   ',
]

const welcome = [
  'acme-sync/2.1',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
  'my-tool (curl/8.5.0)',
  'nodes-of-acme/1',
  'node-red/4',
  'undici-based-client/1',
  'curlish/1',
  'JavaScript/1',
]

const ask = (url: string, agent: string | undefined, path = '/api/v1/assets', method = 'GET') =>
  sendRaw(url, [`${method} ${path} HTTP/1.1`, 'Host: a', ...(agent === undefined ? [] : [`User-Agent: ${agent}`])])

describe('The User-Agent filter, switched on', () => {
  it.each(rejected)('rejects the User-Agent "%s" with a plain 403 outside the envelope (D5)', async (agent) => {
    const reply = await ask(filtered.app.url, agent)
    expect(reply.status).toBe(403)
    expect(reply.headers['content-type']).toMatch(/^text\/plain/)
    expect(reply.json).toBeUndefined()
    expect(reply.text).not.toContain('{')
  })

  it('rejects a request without a User-Agent (D5)', async () => {
    const reply = await ask(filtered.app.url, undefined)
    expect([reply.status, reply.json]).toEqual([403, undefined])
  })

  it.each(welcome)('lets the User-Agent "%s" pass (D5)', async (agent) => {
    expectApiError(await ask(filtered.app.url, agent), 'unauthorized')
  })

  it.each([
    ['a Host twice', ['Host: a', 'Host: a'], ''],
    ['a transfer coding before the chunks', ['Host: a', 'Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'],
  ])(
    'is applied after the check of the protocol, which closes the connection: %s [D49]',
    async (_what, lines, body) => {
      const wire = await RawConnection.open(filtered.app.url)
      wire.write(`${['POST /api/v1/assets HTTP/1.1', ...lines].join('\r\n')}\r\n\r\n${body}`)
      const reply = (await wire.readResponse())!
      expectApiError(reply, 'bad_request')
      expect([reply.headers['connection'], await wire.remainingText()]).toEqual(['close', ''])
      wire.close()
    },
  )

  it('is applied before every other check, unknown paths included (D5)', async () => {
    for (const path of ['/api/v1/nothing', '/api/v1/oauth/token', '/api/v1/assets/0'])
      expect((await ask(filtered.app.url, 'curl/8.5.0', path)).status).toBe(403)
  })

  it('rejects a valid token without a User-Agent and accepts it with one (D5)', async () => {
    const client = (await filtered.app.newOrg()).client('assets:read')
    const nameless = await client.send('GET', '/api/v1/assets', { headers: { 'user-agent': 'undici' } })
    expect([nameless.status, nameless.json]).toEqual([403, undefined])
    expect((await client.get('/api/v1/assets')).status).toBe(200)
  })
})

describe('The User-Agent filter, as it is by default', () => {
  it.each([...rejected, undefined])(
    'is off: a request with the User-Agent "%s" is checked by its token alone (D5)',
    async (agent) => {
      expectApiError(await ask(open.app.url, agent), 'unauthorized')
    },
  )
})
