import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { systemRoutes } from '../../../src/app/system-routes.ts'
import { useApp } from '../../support/app.ts'
import { expectCommonHeaders, expectApiError } from '../../support/error-response.ts'
import { primaryDocument } from '../../support/openapi.ts'
import { sendRaw } from '../../support/raw-http.ts'

const context = useApp({ singleServerReason: 'each process counts its own answers for /metrics' })
const guarded = useApp({ settings: { LASTSEEN_METRICS_TOKEN: 'a long and secret word' } })
const behindProxy = useApp({ settings: { LASTSEEN_TRUST_PROXY: 'true' } })
const addressed = useApp({ settings: { LASTSEEN_BASE_URL: 'https://api.example.com/' } })

describe('The OpenAPI document', () => {
  it('is served as JSON without a token', async () => {
    const reply = await context.app.anonymous('GET', '/api/openapi.json')
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json'])
    expect(reply.json).toEqual(JSON.parse(JSON.stringify(primaryDocument)))
    expectCommonHeaders(reply)
  })

  it('is served with the same content as YAML', async () => {
    const [json, yaml] = await Promise.all(
      ['json', 'yaml'].map((kind) => context.app.anonymous('GET', `/api/openapi.${kind}`)),
    )
    expect([yaml!.status, yaml!.headers['content-type']]).toEqual([200, 'application/yaml'])
    expect(parse(yaml!.text)).toEqual(json!.json)
    expectCommonHeaders(yaml!)
  })

  it.each(['json', 'yaml'])('is the target of a 301 from /openapi.%s', async (kind) => {
    const reply = await context.app.anonymous('GET', `/openapi.${kind}`)
    expect([reply.status, reply.headers['location']]).toEqual([301, `/api/openapi.${kind}`])
    expectCommonHeaders(reply)
  })

  it('has the public URL as its server, and the root where none is set', async () => {
    const relative = await context.app.anonymous('GET', '/api/openapi.json')
    const absolute = await addressed.app.anonymous('GET', '/api/openapi.json')
    expect([relative.json.servers, absolute.json.servers]).toEqual([
      [{ url: '/' }],
      [{ url: 'https://api.example.com' }],
    ])
  })

  it.each(['/api/openapi.json', '/openapi.json', '/api/docs', '/healthz'])(
    '%s accepts only GET and HEAD',
    async (path) => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const reply = await context.app.anonymous(method, path)
        expectApiError(reply, 'method_not_allowed', { detail: 'Allowed methods: GET, HEAD', instance: path })
        expect(reply.headers['allow']).toBe('GET, HEAD')
      }
    },
  )
})

describe('The API reference page', () => {
  it.each(['', '/natural'])('of the base %j allows scripts and requests to this server only', async (base) => {
    const reply = await context.app.anonymous('GET', `${base}/api/docs`)
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const policy = reply.headers['content-security-policy']!
    expect(policy).toContain("default-src 'none'; script-src 'self';")
    expect(policy).toContain("connect-src 'self'")
    expect(policy).not.toContain('unsafe-eval')
    expect(policy).not.toMatch(/https?:/)
    expect(reply.text).not.toMatch(/(src|href)=["']?(https?:)?\/\//)
    expect(reply.text).not.toMatch(/<script(?! src=)/)
    expect(reply.headers['x-content-type-options']).toBe('nosniff')
  })

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
    ['identity', (bytes: Buffer) => bytes],
  ])('has its scripts compressed as %s when the browser accepts it', async (encoding, decode) => {
    const page = await context.app.anonymous('GET', '/natural/api/docs')
    const [bundle, start] = [...page.text.matchAll(/src="(.+?)"/g)].map(([, path]) => `/natural/api/${path}`)
    const { headers, body } = await request(`${context.app.url}${bundle}`, { headers: { 'accept-encoding': encoding } })
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(headers['content-encoding'] ?? 'identity').toBe(encoding)
    expect(decode(Buffer.from(await body.arrayBuffer())).toString()).toContain('createApiReference')
    expect((await context.app.anonymous('GET', start!)).text).toContain('"url":"openapi.json"')
  })
})

describe('The health checks', () => {
  it.each(['/healthz', '/readyz'])('%s is 200 while the service can serve', async (path) => {
    const reply = await context.app.anonymous('GET', path)
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toMatch(/^text\/plain/)
    expect(reply.headers['x-request-id']).toMatch(/./)
  })
})

describe('/metrics', () => {
  it('counts answers by operation and status', async () => {
    const count = async (): Promise<number> => {
      const { text } = await context.app.anonymous('GET', '/metrics')
      const line = /lastseen_http_requests_total\{operation="assets.list",status="401"\} (\d+)/.exec(text)
      return Number(line?.[1] ?? 0)
    }
    const before = await count()
    for (let times = 0; times < 3; times++) await context.app.anonymous('GET', '/api/v1/assets')
    expect(await count()).toBe(before + 3)
  })

  it('contains no text of clients: unknown paths share one label', async () => {
    await context.app.anonymous('GET', '/api/v1/made-up-by-a-client')
    const { text } = await context.app.anonymous('GET', '/metrics')
    expect(text).not.toContain('made-up-by-a-client')
    expect(text).toMatch(/lastseen_http_requests_total\{operation="none",status="404"\} \d+/)
  })

  it('is open without a token while the service listens on a loopback address', async () => {
    const reply = await context.app.anonymous('GET', '/metrics')
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toMatch(/^text\/plain/)
  })

  it.each([
    ['127.0.0.1', 200],
    ['127.0.0.53', 200],
    ['localhost', 200],
    ['::1', 200],
    ['0.0.0.0', 401],
    ['::', 401],
    ['192.168.1.5', 401],
    ['lastseen.example.com', 401],
  ])('without a configured token on %s is %i', async (host, status) => {
    const deps = {
      config: { metricsToken: null, trustProxy: false },
      checkReadiness: async () => null,
      collectMetrics: async () => '',
      host,
    }
    const page = systemRoutes(deps).find(({ path }) => path === '/metrics')
    for (const more of [{}, { authorization: 'Bearer ' }, { authorization: 'Bearer x' }]) {
      const headers = { host: '[::1]:8080', ...more }
      expect((await page!.render({ message: { httpVersion: '1.1', headers }, segments: [] } as never)).status).toBe(
        status,
      )
    }
  })

  it.each([
    ['X-Forwarded-For', '203.0.113.7'],
    ['X-Forwarded-Host', 'lastseen.example.com'],
    ['X-Real-IP', '203.0.113.7'],
    ['Forwarded', 'for=203.0.113.7'],
    ['Via', '1.1 proxy'],
    ['Host', 'lastseen.example.com'],
    ['Host', 'rebound.example.com:8080'],
    ['Origin', 'https://app.example'],
  ])(
    'without a configured token is 401 through a proxy on the same host, or from a web page, which sends %s',
    async (name, value) => {
      const reply = await context.app.anonymous('GET', '/metrics', { headers: { [name]: value } })
      expect([reply.status, reply.text.includes('lastseen_http')]).toEqual([401, false])
    },
  )

  it('without a configured token is 401 for HTTP/1.0, which nginx sends without other headers', async () => {
    const local = 'Host: 127.0.0.1:8080'
    const statusOf = async (version: string): Promise<number> =>
      (await sendRaw(context.app.url, [`GET /metrics HTTP/${version}`, local])).status
    expect([await statusOf('1.0'), await statusOf('1.1')]).toEqual([401, 200])
  })

  it('without a configured token is 401 behind a trusted proxy', async () => {
    expect((await behindProxy.app.anonymous('GET', '/metrics')).status).toBe(401)
  })

  it.each([
    ['no token', 401, {}],
    ['a wrong token', 401, { authorization: 'Bearer a wrong word' }],
    ['the start of the token', 401, { authorization: 'Bearer a long and secret' }],
    ['the token without its scheme', 401, { authorization: 'a long and secret word' }],
    ['the token', 200, { authorization: 'Bearer a long and secret word' }],
  ])('with a configured token and %s is %i', async (_what, status, headers: Record<string, string>) => {
    const reply = await guarded.app.anonymous('GET', '/metrics', { headers })
    expect(reply.status).toBe(status)
    if (status === 401) expect(reply.text).not.toContain('lastseen_http')
  })
})
