import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type TestUser, createSignedInUser } from '../support/accounts.ts'
import { type TestApp, startApp } from '../support/app.ts'
import { Authority } from '../support/certificates.ts'
import { lacks } from '../support/packaging.ts'
import { freePort } from '../support/free-port.ts'
import { repository } from '../support/process.ts'

const host = 'lastseen.example.com'
const authority = new Authority()
const folder = mkdtempSync(join(tmpdir(), 'lastseen-proxy-'))
let app: TestApp
let admin: TestUser

beforeAll(async () => {
  const { cert, key } = authority.issue(`DNS:${host}`)
  writeFileSync(join(folder, 'cert.pem'), cert)
  writeFileSync(join(folder, 'key.pem'), key)
  app = await startApp({
    settings: { LASTSEEN_TRUST_PROXY: 'true', LASTSEEN_SIGNUP: 'open', LASTSEEN_SIGNUP_LIMIT: '2' },
  })
  admin = await createSignedInUser(await app.newOrg('Northwind'), 'admin')
})
afterAll(async () => {
  await app.stop()
  authority.remove()
  rmSync(folder, { recursive: true, force: true })
})

const recipe = (name: string): string => readFileSync(join(repository, 'packaging', name), 'utf8')

/** The site of packaging/nginx.conf, with this test's ports and files. */
function nginx(port: number): { binary: string; args: string[] } {
  const site = recipe('nginx.conf')
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace(/^ *listen \[::\].*$/m, '')
    .replaceAll('127.0.0.1:8080', new URL(app.url).host)
    .replace('/etc/ssl/lastseen/fullchain.pem', join(folder, 'cert.pem'))
    .replace('/etc/ssl/lastseen/privkey.pem', join(folder, 'key.pem'))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {} http { access_log off; ${paths.join(' ')} ${site} }`,
  )
  return { binary: '/usr/sbin/nginx', args: ['-c', file, '-p', folder] }
}

/** packaging/Caddyfile, with this test's ports and certificate. */
function caddy(port: number): { binary: string; args: string[] } {
  const site = recipe('Caddyfile')
    .replace(
      'lastseen.example.com {',
      `https://lastseen.example.com:${port} {\n\ttls ${folder}/cert.pem ${folder}/key.pem\n\tbind 127.0.0.1`,
    )
    .replaceAll('127.0.0.1:8080', new URL(app.url).host)
  const file = join(folder, 'Caddyfile')
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`)
  return { binary: '/usr/bin/caddy', args: ['run', '--config', file, '--adapter', 'caddyfile'] }
}

describe.each([
  ['nginx', nginx, '127.0.0.2'],
  ['Caddy', caddy, '127.0.0.3'],
])('Behind %s, configured as packaged,', (name, configure, localAddress) => {
  const isMissing = lacks(configure === nginx ? '/usr/sbin/nginx' : '/usr/bin/caddy')
  let port: number
  let child: ChildProcess
  let output = ''

  beforeAll(async () => {
    if (isMissing) return
    port = await freePort()
    const { binary, args } = configure(port)
    child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'], HOME: folder } })
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const isUp = async (): Promise<void> => expect((await send('GET', '/healthz')).statusCode, output).toBe(200)
    await vi.waitFor(isUp, { timeout: 20_000, interval: 100 })
  })
  afterAll(async () => {
    if (isMissing) return
    child.kill()
    await once(child, 'exit')
  })

  async function send(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body = '',
  ): Promise<IncomingMessage> {
    const options = {
      host: '127.0.0.1',
      localAddress,
      port,
      servername: host,
      ca: authority.certificate,
      agent: false as const,
    }
    const sent = request({ ...options, method, path, headers: { Host: host, ...headers } })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response
  }

  const withToken = () => ({ Authorization: `Bearer ${admin.token}` })
  const json = { 'Content-Type': 'application/json' }

  it.skipIf(isMissing)('browsers are instructed to use HTTPS only', async () => {
    const response = await send('GET', '/')
    expect([response.statusCode, response.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000'])
    response.resume()
  })

  it.skipIf(isMissing)('events of a live stream arrive at once', async () => {
    const stream = await send('GET', '/api/v1/live', withToken())
    expect(stream.statusCode).toBe(200)
    const [first] = (await once(stream, 'data', { signal: AbortSignal.timeout(10_000) })) as [Buffer]
    expect(first.toString()).toMatch(/^(event|:|retry|id)/m)
    stream.destroy()
  })

  it.skipIf(isMissing)('a request of 4 MiB is passed on', async () => {
    const identifiers = Array.from({ length: 10_000 }, (_, index) => `${'x'.repeat(405)}-${index}`)
    const body = JSON.stringify({ location_identifier: 'NONE', asset_identifiers: identifiers })
    expect(body.length).toBeGreaterThan(3.9 * 2 ** 20)
    const response = await send('POST', '/api/v1/inventory/save', { ...json, ...withToken() }, body)
    expect(response.statusCode).toBe(400)
    response.resume()
  })

  it.skipIf(isMissing)('an import of 60 MiB is passed on', async () => {
    const rows = Array.from({ length: 1024 }, (_, index) =>
      JSON.stringify({ external_key: `BIG-${index}`, name: 'Crate', metadata: { note: 'x'.repeat(60 * 1024 - 80) } }),
    )
    const body = `${rows.join('\n')}\n`
    expect(body.length).toBeGreaterThan(59.9 * 2 ** 20)
    const headers = { 'Content-Type': 'application/x-ndjson', ...withToken() }
    const response = await send('POST', '/api/v1/bulk/assets?dry_run=true', headers, body)
    const text = (await response.toArray()).join('')
    expect([response.statusCode, JSON.parse(text).data.rows], text.slice(0, 500)).toEqual([202, 1024])
  })

  it.skipIf(isMissing)('limits count the addresses of the clients', async () => {
    const attempts = []
    for (let count = 0; count < 3; count++) {
      const email = `${name}-${count}@example.com`.toLowerCase()
      const body = JSON.stringify({ email, password: 'correct horse battery', organization_name: 'Northwind' })
      const response = await send(
        'POST',
        '/api/v1/auth/signup',
        { ...json, 'X-Forwarded-For': `192.0.2.${count}` },
        body,
      )
      attempts.push(response.statusCode)
      response.resume()
    }
    // The proxy appends the address from which the client connects, whatever the client claims.
    expect(attempts).toEqual([201, 201, 429])
  })
})
