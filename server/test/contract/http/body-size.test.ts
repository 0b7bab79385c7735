import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'
import { RawConnection } from '../../support/raw-http.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const context = useApp()
const database = useSnapshotDatabase(context)
const mebibyte = 1024 * 1024

let org: TestOrg
let full: Client
let assetId: number

beforeAll(async () => {
  org = await context.app.newOrg()
  full = org.full
  assetId = (await full.post('/api/v1/assets', { external_key: 'JACK', name: 'Pallet jack' })).json.data.id
})

/** A valid body of exactly this many bytes, most of them spaces. */
function bodyOf(bytes: number, head = '{"name":"large",', tail = '"metadata":{"a":1}}', filler = ' '): string {
  return head + filler.repeat(bytes - head.length - tail.length) + tail
}

const chunked = (text: string, size: number): string => {
  let out = ''
  for (let at = 0; at < text.length; at += size) {
    const piece = text.slice(at, at + size)
    out += `${piece.length.toString(16)}\r\n${piece}\r\n`
  }
  return `${out}0\r\n\r\n`
}

async function headOf(method: string, path: string, more: readonly string[]): Promise<string[]> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const authorization = `Authorization: Bearer ${await full.token()}`
  return [`${method} ${path} HTTP/1.1`, 'Host: a', authorization, `Content-Type: ${type}`, ...more]
}

const framings: [what: string, header: (text: string) => string, body: (text: string) => string][] = [
  ['with a Content-Length', (text) => `Content-Length: ${text.length}`, (text) => text],
  ['in chunks of 64 KiB', () => 'Transfer-Encoding: chunked', (text) => chunked(text, 65_536)],
  ['in one chunk', () => 'Transfer-Encoding: chunked', (text) => chunked(text, text.length)],
]

describe('The size of a body', () => {
  it.each(framings)('may be exactly 1 MiB %s (D9)', async (_what, header, body) => {
    const text = bodyOf(mebibyte)
    expect(Buffer.byteLength(text)).toBe(1_048_576)
    const wire = await RawConnection.open(context.app.url)
    wire.request(await headOf('POST', '/api/v1/assets', [header(text)]), body(text))
    const reply = await wire.readResponse()
    wire.close()
    expect(reply?.status, reply?.text).toBe(201)
    expect(reply?.json.data.metadata).toEqual(JSON.parse(text).metadata)
  })

  it.each(framings.flatMap((row) => [1, mebibyte, 9 * mebibyte].map((more) => [...row, more] as const)))(
    'may not be more %s: bad_request, nothing changed, and the connection serves the next request (D9)',
    async (_what, header, body, more) => {
      const before = await database.snapshot(org.orgId)
      const text = bodyOf(mebibyte + more)
      const wire = await RawConnection.open(context.app.url)
      wire.request(await headOf('POST', '/api/v1/assets', [header(text)]), body(text))
      expectApiError((await wire.readResponse())!, 'bad_request')
      expect(await database.snapshot(org.orgId)).toBe(before)
      wire.request(await headOf('GET', `/api/v1/assets/${assetId}`, []))
      const next = await wire.readResponse()
      wire.close()
      expect([next?.status, next?.json.data.id]).toEqual([200, assetId])
    },
  )

  it('is counted in bytes, not in characters (D9)', async () => {
    const text = `{"name":"large","metadata":{"a":"${'é'.repeat(mebibyte / 2)}"}}`
    expect(text.length).toBeLessThan(mebibyte)
    const reply = await full.send('POST', '/api/v1/assets', {
      raw: text,
      headers: { 'content-type': 'application/json' },
    })
    expectApiError(reply, 'bad_request')
  })

  it.each([
    ['PATCH', '/api/v1/assets/{asset}'],
    ['POST', '/api/v1/assets/{asset}/rename'],
    ['POST', '/api/v1/assets/{asset}/tags'],
    ['POST', '/api/v1/locations'],
    ['POST', '/api/v1/oauth/token'],
    ['POST', '/api/v1/auth/login'],
    ['POST', '/natural/api/v1/assets'],
    ['PUT', '/natural/api/v1/assets/JACK'],
    ['POST', '/natural/api/v1/assets/JACK/identifiers'],
    ['POST', '/natural/api/v1/locations'],
  ])('is limited on %s %s (D9)', async (method, template) => {
    const path = template.replace('{asset}', String(assetId))
    const before = await database.snapshot(org.orgId)
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const fits = await full.send(method, path, {
      raw: bodyOf(mebibyte, '{"x":"', '"}', 'x'),
      headers: { 'content-type': type },
    })
    expectApiError(fits, 'validation_error', { fields: [{ field: 'x', code: 'unknown_field' }] })
    const raw = bodyOf(mebibyte + 1, '{"x":"', '"}', 'x')
    const reply = await full.send(method, path, { raw, headers: { 'content-type': type } })
    expectApiError(reply, 'bad_request', { detail: 'Request body is larger than 1 MiB' })
    expect(await database.snapshot(org.orgId)).toBe(before)
  })

  describe.each(['/api/v1/inventory/save', '/natural/api/v1/inventory/save'])('of %s', (path) => {
    const head = '{"location_identifier":"NOWHERE","asset_identifiers":["A"],'

    it.each(framings)('may be exactly 4 MiB %s [D48]', async (_what, header, body) => {
      const text = bodyOf(4 * mebibyte, '{"x":"', '"}', 'x')
      const wire = await RawConnection.open(context.app.url)
      wire.request(await headOf('POST', path, [header(text)]), body(text))
      const reply = await wire.readResponse()
      wire.close()
      expectApiError(reply!, 'validation_error', { fields: [{ field: 'x', code: 'unknown_field' }] })
    })

    it.each(framings)(
      'may not be more %s: bad_request that names 4 MiB, and the connection serves the next request [D48]',
      async (_what, header, body) => {
        const before = await database.snapshot(org.orgId)
        const text = bodyOf(4 * mebibyte + 1, head, '"x":1}')
        const wire = await RawConnection.open(context.app.url)
        wire.request(await headOf('POST', path, [header(text)]), body(text))
        expectApiError((await wire.readResponse())!, 'bad_request', { detail: 'Request body is larger than 4 MiB' })
        wire.request(['GET /healthz HTTP/1.1', 'Host: a'])
        expect((await wire.readResponse())?.status).toBe(200)
        wire.close()
        expect(await database.snapshot(org.orgId)).toBe(before)
      },
    )
  })

  it('that is far beyond the limit is rejected in the same way, changes nothing and leaves the connection usable (D9)', async () => {
    const before = await database.snapshot(org.orgId)
    const wire = await RawConnection.open(context.app.url)
    wire.request(
      await headOf('POST', '/api/v1/assets', [`Content-Length: ${40 * mebibyte}`]),
      'x'.repeat(40 * mebibyte),
    )
    expectApiError((await wire.readResponse())!, 'bad_request')
    wire.request(['GET /healthz HTTP/1.1', 'Host: a'])
    expect((await wire.readResponse())?.status).toBe(200)
    wire.close()
    expect(await database.snapshot(org.orgId)).toBe(before)
  })

  it.each([
    ['401', [], 'unauthorized'],
    ['404 for an unknown id', ['/api/v1/assets/5/tags'], 'not_found'],
  ] as const)(
    'does not affect an earlier error, %s, after which the connection stays usable',
    async (_what, path, type) => {
      const text = bodyOf(2 * mebibyte)
      const wire = await RawConnection.open(context.app.url)
      const head = await headOf('POST', path[0] ?? '/api/v1/assets', [`Content-Length: ${text.length}`])
      wire.request(path[0] === undefined ? head.filter((line) => !line.startsWith('Authorization')) : head, text)
      expectApiError((await wire.readResponse())!, type)
      wire.request(['GET /healthz HTTP/1.1', 'Host: a'])
      expect((await wire.readResponse())?.status).toBe(200)
      wire.close()
    },
  )
})

describe('An incomplete body', () => {
  it.each([
    ['by its Content-Length', ['Content-Length: 100'], '{"name":"half'],
    ['in its chunks', ['Transfer-Encoding: chunked'], '5\r\n{"nam\r\n'],
  ])('%s changes nothing, and the service keeps serving', async (_what, header, body) => {
    const before = await database.snapshot(org.orgId)
    const wire = await RawConnection.open(context.app.url)
    wire.request(await headOf('POST', '/api/v1/assets', header), body)
    await new Promise((resume) => setTimeout(resume, 30))
    wire.close()
    expect((await full.get('/api/v1/orgs/me')).status).toBe(200)
    expect(await database.snapshot(org.orgId)).toBe(before)
  })

  it.each([
    ['a chunk size that is no number', 'zz\r\n{"name":"a"}\r\n0\r\n\r\n'],
    ['a chunk longer than it says', '2\r\n{"name":"a"}\r\n0\r\n\r\n'],
    ['a chunk size beyond all numbers', 'fffffffffffffffffff\r\n{}\r\n0\r\n\r\n'],
  ])('because of %s is answered with one bad_request and changes nothing', async (_what, body) => {
    const before = await database.snapshot(org.orgId)
    const wire = await RawConnection.open(context.app.url)
    wire.request(await headOf('POST', '/api/v1/assets', ['Transfer-Encoding: chunked']), body)
    expectApiError((await wire.readResponse())!, 'bad_request')
    expect(await wire.remainingText()).toBe('')
    expect(await database.snapshot(org.orgId)).toBe(before)
  })
})
