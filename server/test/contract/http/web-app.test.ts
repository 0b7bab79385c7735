import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { webAppRoutes } from '../../../src/app/web-app.ts'
import { send } from '../../support/client.ts'
import { expectCommonHeaders, expectApiError } from '../../support/error-response.ts'
import { type MountedServer, mountRoutes } from '../../support/mount-routes.ts'

const script = `console.log(${JSON.stringify('seen '.repeat(400))})`
const index =
  '<!doctype html><meta name="api-base" content="__API_BASE__"><meta name="style-nonce" content="__STYLE_NONCE__">' +
  '<meta name="signup" content="__SIGNUP__">' +
  '<script src="/static/main-1a2b.js">'

let folder = ''
let app: MountedServer

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lastseen-web-'))
  mkdirSync(join(folder, 'static'))
  writeFileSync(join(folder, 'index.html'), index)
  writeFileSync(join(folder, '.built'), 'fingerprint')
  writeFileSync(join(folder, 'mark.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(join(folder, 'sw.js'), '// service worker')
  writeFileSync(join(folder, 'static/main-1a2b.js'), script)
  writeFileSync(join(folder, 'static/main-1a2b.js.br'), brotliCompressSync(script))
  writeFileSync(join(folder, 'static/main-1a2b.js.gz'), gzipSync(script))
  app = await mountRoutes([], { rawRoutes: webAppRoutes(folder, '/primary/api/v1', 'invite-only') })
})

afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

describe('The web app', () => {
  it.each([
    '/',
    '/sign-in',
    '/assets',
    '/assets/4503170118275611',
    '/locations/12',
    '/readers/inbox',
    '/settings/members',
  ])('is served at %s, so that every URL can be reloaded and shared', async (path) => {
    const reply = await send(app.url, 'GET', path)
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(reply.headers['cache-control']).toBe('no-cache')
    expect(reply.text).toContain('/static/main-1a2b.js')
    expectCommonHeaders(reply)
  })

  it('allows scripts from its own files only, and styles with the nonce of the response', async () => {
    const replies = [await send(app.url, 'GET', '/'), await send(app.url, 'GET', '/')]
    const nonces = replies.map((reply) => {
      const policy = reply.headers['content-security-policy']!
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("script-src 'self';")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).toContain("base-uri 'none'")
      expect(policy).not.toMatch(/unsafe|https?:|\*/)
      const [, nonce] = /style-src 'self' 'nonce-([\w-]{22})'/.exec(policy)!
      expect(reply.text).toContain(`content="${nonce}"`)
      return nonce
    })
    expect(nonces[0]).not.toBe(nonces[1])
  })

  it('contains the base path of the id-based API, which a setting can change (D1)', async () => {
    expect((await send(app.url, 'GET', '/')).text).toContain('<meta name="api-base" content="/primary/api/v1">')
  })

  it('contains the sign-up policy, so that it offers only allowed actions', async () => {
    expect((await send(app.url, 'GET', '/sign-in')).text).toContain('<meta name="signup" content="invite-only">')
  })

  it('allows the camera to itself only and sends no referrer', async () => {
    const { headers } = await send(app.url, 'GET', '/scan')
    expect(headers['permissions-policy']).toContain('camera=(self)')
    expect(headers['referrer-policy']).toBe('no-referrer')
    expect(headers['x-content-type-options']).toBe('nosniff')
  })

  it.each([
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
  ])('sends files compressed to clients that accept %s', async (accepted, coding) => {
    const response = await fetch(`${app.url}/static/main-1a2b.js`, { headers: { 'accept-encoding': accepted } })
    expect(response.headers.get('content-encoding')).toBe(coding)
    expect(response.headers.get('vary')).toBe('Accept-Encoding')
    expect(Number(response.headers.get('content-length'))).toBeLessThan(script.length)
    expect(await response.text()).toBe(script)
  })

  it('sends files uncompressed to other clients', async () => {
    const reply = await send(app.url, 'GET', '/static/main-1a2b.js', { headers: { 'accept-encoding': 'identity' } })
    expect([reply.text, reply.headers['content-encoding']]).toEqual([script, undefined])
    expect(reply.headers['content-type']).toBe('text/javascript; charset=utf-8')
  })

  it('lets browsers cache files with hashed names permanently', async () => {
    const named = await send(app.url, 'GET', '/static/main-1a2b.js')
    const plain = await send(app.url, 'GET', '/mark.svg')
    expect(named.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(plain.headers['cache-control']).toBe('public, max-age=3600')
  })

  it('lets browsers use a service worker only after they asked whether it has changed', async () => {
    const reply = await send(app.url, 'GET', '/sw.js')
    expect([reply.headers['cache-control'], reply.headers['content-type']]).toEqual([
      'no-cache',
      'text/javascript; charset=utf-8',
    ])
  })

  it('answers HEAD with the headers of GET and no body', async () => {
    for (const path of ['/', '/static/main-1a2b.js']) {
      const reply = await send(app.url, 'HEAD', path)
      expect([reply.status, reply.text]).toEqual([200, ''])
      expect(Number(reply.headers['content-length'])).toBeGreaterThan(0)
    }
  })

  it.each(['/api/v1/nothing', '/api', '/nothing', '/static/other.js', '/.built', '/index.html'])(
    'does not handle %s, which is 404',
    async (path) => {
      expectApiError(await send(app.url, 'GET', path), 'not_found', { instance: path })
    },
  )

  it('answers a browser at an unknown path with status 404 and the page, which says that nothing is there', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    const reply = await send(app.url, 'GET', '/nothing', { headers })
    expect([reply.status, reply.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(reply.text).toContain('/static/main-1a2b.js')
    expectCommonHeaders(reply)
    for (const path of ['/api/v1/nothing', '/primary/api/v1/nothing', '/ingest/v1/nothing', '/static/other.js'])
      expectApiError(await send(app.url, 'GET', path, { headers }), 'not_found', { instance: path })
    expectApiError(await send(app.url, 'POST', '/nothing', { headers }), 'not_found', { instance: '/nothing' })
  })

  it('accepts only GET and HEAD', async () => {
    const reply = await send(app.url, 'POST', '/assets', { json: {} })
    expectApiError(reply, 'method_not_allowed', { detail: 'Allowed methods: GET, HEAD', instance: '/assets' })
  })

  it('is replaced by the API reference at the root where it was not built', async () => {
    const bare = await mountRoutes([], { rawRoutes: webAppRoutes(join(folder, 'static'), '/api/v1', 'open') })
    const reply = await send(bare.url, 'GET', '/')
    await bare.close()
    expect([reply.status, reply.headers['location']]).toEqual([302, '/api/docs'])
  })
})
