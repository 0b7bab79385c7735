import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Client, Reply } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'
import { naturalRoutes, primaryRoutes } from '../../support/openapi.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { pathTemplateOf, allRoutes, routePath } from '../../support/all-routes.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const context = useApp()
const database = useSnapshotDatabase(context)

let org: TestOrg
let full: Client
let session: string
let assetId: number

beforeAll(async () => {
  org = await context.app.newOrg()
  full = org.full
  session = (await org.signIn('admin')).accessToken
  assetId = (await full.post('/api/v1/assets', { external_key: 'JACK', name: 'Pallet jack' })).json.data.id
})

const onPost = 'Content-Type must be application/json'
const onPatch = 'Content-Type must be application/merge-patch+json on PATCH operations'

const create = (contentType: string, raw = '{"name":"a"}', headers: Record<string, string> = {}): Promise<Reply> =>
  full.send('POST', '/api/v1/assets', { raw, headers: { 'content-type': contentType, ...headers } })

const change = (contentType: string): Promise<Reply> =>
  full.send('PATCH', `/api/v1/assets/${assetId}`, { raw: '{}', headers: { 'content-type': contentType } })

async function expectRejectedUnchanged(act: () => Promise<Reply>, detail: string | RegExp): Promise<void> {
  const before = await database.snapshot(org.orgId)
  const reply = await act()
  expectApiError(reply, 'unsupported_media_type')
  expect(reply.json.error.detail).toEqual(typeof detail === 'string' ? detail : expect.stringMatching(detail))
  expect(await database.snapshot(org.orgId)).toBe(before)
}

describe('The Content-Type of a POST', () => {
  it.each([
    'application/json',
    'APPLICATION/JSON',
    'Application/Json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; Charset=Utf-8',
    'application/json ; charset=utf-8',
    'application/json; profile="https://example.com/a;b"',
    'application/json; profile=x; charset=utf-8',
    'application/json;',
    '  application/json  ',
  ])('may be %s (D8)', async (contentType) => {
    expect((await create(contentType)).status).toBe(201)
  })

  it.each([
    ['merge patch', 'application/merge-patch+json'],
    ['text', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['another JSON type', 'application/vnd.api+json'],
    ['a wildcard', 'application/*'],
    ['a type with more behind it', 'application/jsonx'],
    ['a type with more before it', 'xapplication/json'],
    ['half a type', 'json'],
    ['two types in one header', 'application/json, application/json'],
    ['a parameter without a value', 'application/json; charset'],
    ['words behind the type', 'application/json utf-8'],
    ['nothing', ''],
  ])('of %s is 415 and changes nothing', async (_what, contentType) => {
    await expectRejectedUnchanged(() => create(contentType), onPost)
  })

  it.each(['latin1', 'iso-8859-1', 'utf-16', 'us-ascii', '"iso-8859-1"', 'UTF-16LE', '""', 'utf-8x'])(
    'with the charset %s is 415 (D8)',
    async (charset) => {
      await expectRejectedUnchanged(() => create(`application/json; charset=${charset}`), /./)
    },
  )

  it.each([
    ['after a valid one', 'application/json; charset=utf-8; charset=latin1'],
    ['behind another parameter', 'application/json; profile=x; charset=latin1'],
  ])('with a charset other than UTF-8 %s is 415 (D8)', async (_where, contentType) => {
    await expectRejectedUnchanged(() => create(contentType), /./)
  })

  it('may mention another charset inside a quoted parameter, which is not the charset', async () => {
    expect((await create('application/json; profile="; charset=latin1"')).status).toBe(201)
  })
})

describe('The Content-Type of a PATCH', () => {
  it.each([
    'application/merge-patch+json',
    'Application/Merge-Patch+JSON',
    'application/merge-patch+json; charset=utf-8',
    'application/merge-patch+json;charset="UTF-8"',
  ])('may be %s (D8)', async (contentType) => {
    expect((await change(contentType)).status).toBe(200)
  })

  it.each([
    ['plain JSON', 'application/json'],
    ['plain JSON with a charset', 'application/json; charset=utf-8'],
    ['JSON patch', 'application/json-patch+json'],
    ['text', 'text/plain'],
  ])('of %s is 415 and changes nothing', async (_what, contentType) => {
    await expectRejectedUnchanged(() => change(contentType), onPatch)
  })

  it('with another charset is 415 (D8)', async () => {
    await expectRejectedUnchanged(() => change('application/merge-patch+json; charset=latin1'), /./)
  })
})

describe('The Content-Type of a PUT', () => {
  const put = (contentType: string): Promise<Reply> =>
    full.send('PUT', '/natural/api/v1/assets/JACK', { raw: '{}', headers: { 'content-type': contentType } })

  it.each(['application/json', 'Application/JSON', 'application/json; charset="UTF-8"', 'application/json; profile=x'])(
    'is a media type, case-insensitive and with parameters: %s [D8]',
    async (contentType) => {
      expect((await put(contentType)).status).toBe(200)
    },
  )

  it.each(['application/json; charset=latin1', 'application/merge-patch+json', 'text/plain'])(
    'of %s is 415 and changes nothing [D8]',
    async (contentType) => {
      await expectRejectedUnchanged(() => put(contentType), /./)
    },
  )
})

describe('A write without a Content-Type', () => {
  const writes = allRoutes.filter((route) => route.body !== undefined)

  it.each(writes.map((route) => [route.method, pathTemplateOf(route), route] as const))(
    'is 415: %s %s',
    async (method, _path, route) => {
      const token = route.access === 'public' ? undefined : route.access === 'session' ? session : await full.token()
      const lines = [`${method} ${routePath(route, org.orgId)} HTTP/1.1`, 'Host: a', 'Content-Length: 2']
      if (token !== undefined) lines.push(`Authorization: Bearer ${token}`)
      const reply = await sendRaw(context.app.url, lines, '{}')
      expectApiError(reply, 'unsupported_media_type', { detail: method === 'PATCH' ? onPatch : onPost })
    },
  )

  it('is 415 even when it has no body either', async () => {
    const token = await full.token()
    const lines = ['POST /api/v1/assets HTTP/1.1', 'Host: a', `Authorization: Bearer ${token}`, 'Content-Length: 0']
    expectApiError(await sendRaw(context.app.url, lines), 'unsupported_media_type', { detail: onPost })
  })
})

describe('A write with the Content-Type of another method', () => {
  const writes = [...primaryRoutes, ...naturalRoutes].filter((route) => route.body !== undefined)

  it.each(writes.map((route) => [route.method, pathTemplateOf(route), route] as const))(
    'is 415: %s %s accepts only its own',
    async (method, _path, route) => {
      const headers = { 'content-type': method === 'PATCH' ? 'application/json' : 'application/merge-patch+json' }
      const token = route.access === 'public' ? {} : { token: await full.token() }
      const reply = await context.app.anonymous(method, routePath(route, 5), { raw: '{}', headers, ...token })
      expectApiError(reply, 'unsupported_media_type', { detail: method === 'PATCH' ? onPatch : onPost })
    },
  )
})

describe('Two Content-Type headers', () => {
  it.each([
    ['the same twice', 'application/json', 'application/json'],
    ['a valid one first', 'application/json', 'text/plain'],
    ['a valid one last', 'text/plain', 'application/json'],
  ])('are 415: %s', async (_what, first, second) => {
    const lines = ['POST /api/v1/assets HTTP/1.1', 'Host: a', `Authorization: Bearer ${await full.token()}`]
    const before = await database.snapshot(org.orgId)
    const types = [`Content-Type: ${first}`, `content-type: ${second}`, 'Content-Length: 12']
    const reply = await sendRaw(context.app.url, [...lines, ...types], '{"name":"b"}')
    expectApiError(reply, 'unsupported_media_type', { detail: onPost })
    expect(await database.snapshot(org.orgId)).toBe(before)
  })
})

describe('A compressed body', () => {
  it.each(['gzip', 'GZIP', 'br', 'deflate', 'zstd', 'gzip, identity'])('by %s is 415', async (coding) => {
    await expectRejectedUnchanged(() => create('application/json', '{"name":"a"}', { 'content-encoding': coding }), /./)
  })

  it('with Content-Encoding: identity is accepted', async () => {
    expect((await create('application/json', '{"name":"a"}', { 'content-encoding': 'identity' })).status).toBe(201)
  })
})

describe('DELETE', () => {
  it.each([
    ['no Content-Type', undefined, {}],
    ['any Content-Type', 'text/plain', {}],
    ['a body that is not JSON', '{', { 'content-type': 'application/json' }],
    ['a compressed body', 'xx', { 'content-encoding': 'gzip' }],
    ['a body of two mebibytes', 'x'.repeat(2 * 1024 * 1024), { 'content-type': 'application/json' }],
  ])('accepts %s and ignores a body (D8)', async (_what, raw, headers) => {
    const made = await full.post('/api/v1/assets', { name: 'short-lived' })
    const path = `/api/v1/assets/${made.json.data.id}`
    const reply = await full.send('DELETE', path, raw === undefined ? { headers } : { raw, headers })
    expect([reply.status, reply.text]).toEqual([204, ''])
    expectApiError(await full.get(path), 'not_found')
  })

  it.each(['assets', 'locations'])(
    'ignores a body and its Content-Type on the natural base too: %s and their identifiers [D8]',
    async (kind) => {
      const identifiers = [{ value: `short-lived in ${kind}` }]
      const made = await full.post(`/natural/api/v1/${kind}`, { identifier: 'SHORT', name: 'a', identifiers })
      const one = `/natural/api/v1/${kind}/SHORT`
      const options = { raw: '{', headers: { 'content-type': 'text/plain' } }
      const detached = await full.send('DELETE', `${one}/identifiers/${made.json.data.identifiers[0].id}`, options)
      const deleted = await full.send('DELETE', one, options)
      expect([detached.status, deleted.status]).toEqual([204, 204])
    },
  )
})

describe('GET', () => {
  it('accepts any Content-Type', async () => {
    const reply = await full.send('GET', '/api/v1/assets', { headers: { 'content-type': 'text/plain' } })
    expect(reply.status).toBe(200)
  })
})
