import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Client, Reply } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const context = useApp()
const database = useSnapshotDatabase(context)

let org: TestOrg
let full: Client
let assetId: number
let locationId: number

beforeAll(async () => {
  org = await context.app.newOrg()
  full = org.full
  assetId = (await full.post('/api/v1/assets', { external_key: 'JACK', name: 'Pallet jack' })).json.data.id
  locationId = (await full.post('/api/v1/locations', { external_key: 'DOCK', name: 'Dock' })).json.data.id
})

const notJson = 'Request body is not valid JSON'
const wrongType = 'Request body could not be decoded as the expected type'
const notAnObject = 'Request body must be a JSON object (RFC 7396)'

const writes: [method: string, path: string][] = [
  ['POST', '/api/v1/oauth/token'],
  ['POST', '/api/v1/assets'],
  ['PATCH', '/api/v1/assets/{asset}'],
  ['POST', '/api/v1/assets/{asset}/rename'],
  ['POST', '/api/v1/assets/{asset}/tags'],
  ['POST', '/api/v1/locations'],
  ['PATCH', '/api/v1/locations/{location}'],
  ['POST', '/api/v1/locations/{location}/rename'],
  ['POST', '/api/v1/locations/{location}/tags'],
  ['POST', '/api/v1/inventory/save'],
  ['POST', '/natural/api/v1/oauth/token'],
  ['POST', '/natural/api/v1/assets'],
  ['PUT', '/natural/api/v1/assets/JACK'],
  ['POST', '/natural/api/v1/assets/JACK/identifiers'],
  ['POST', '/natural/api/v1/locations'],
  ['PUT', '/natural/api/v1/locations/DOCK'],
  ['POST', '/natural/api/v1/locations/DOCK/identifiers'],
  ['POST', '/natural/api/v1/inventory/save'],
]

const typeOf = (method: string): string => (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')

const addressOf = (path: string): string =>
  path.replace('{asset}', String(assetId)).replace('{location}', String(locationId))

const write = (method: string, path: string, raw: string | Buffer): Promise<Reply> =>
  full.send(method, addressOf(path), { raw, headers: { 'content-type': typeOf(method) } })

async function expectRejectedUnchanged(act: () => Promise<Reply>, detail?: string): Promise<void> {
  const before = await database.snapshot(org.orgId)
  expectApiError(await act(), 'bad_request', detail === undefined ? {} : { detail })
  expect(await database.snapshot(org.orgId)).toBe(before)
}

describe('A body that is not JSON', () => {
  it.each([
    ['nothing', ''],
    ['blanks', '   \n'],
    ['an open object', '{"name":"a"'],
    ['a trailing comma', '{"name":"a",}'],
    ['single quotes', "{'name':'a'}"],
    ['bare keys', '{name:"a"}'],
    ['a comment', '{"name":"a"}//'],
    ['two documents', '{"name":"a"}{"name":"b"}'],
    ['words behind the document', '{"name":"a"} x'],
    ['NaN', '{"name":NaN}'],
    ['a leading zero', '{"metadata":{"n":01},"name":"a"}'],
    ['a hexadecimal number', '{"metadata":{"n":0x1},"name":"a"}'],
    ['a line break inside a string', '{"name":"a\nb"}'],
    ['a bad escape', '{"name":"\\x41"}'],
    ['a form', 'name=a'],
    ['a byte order mark', '\uFEFF{"name":"a"}'],
    ['undefined', 'undefined'],
  ])('but %s is bad_request on POST and PATCH and changes nothing', async (_what, text) => {
    await expectRejectedUnchanged(() => write('POST', '/api/v1/assets', text), notJson)
    await expectRejectedUnchanged(() => write('PATCH', `/api/v1/assets/${assetId}`, text), notJson)
  })

  it.each(writes)('is bad_request, attributed to no field, on %s %s', async (method, path) => {
    await expectRejectedUnchanged(() => write(method, path, '{"external_key":'), notJson)
  })

  it.each([
    ['a stray byte', [0xff]],
    ['a lone continuation byte', [0x80]],
    ['a truncated sequence', [0xe2, 0x82]],
    ['an overlong form', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['Latin-1', [0xe9]],
  ])('because of invalid UTF-8, %s, is bad_request and changes nothing', async (_what, bytes) => {
    const raw = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')])
    await expectRejectedUnchanged(() => write('POST', '/api/v1/assets', raw), notJson)
  })

  it('because it is UTF-16 is bad_request', async () => {
    await expectRejectedUnchanged(
      () => write('POST', '/api/v1/assets', Buffer.from('{"name":"a"}', 'utf16le')),
      notJson,
    )
  })

  it('does not include JSON with surrounding whitespace, which is accepted', async () => {
    expect((await write('POST', '/api/v1/assets', ' \t\r\n{ "name" : "a" }\n')).status).toBe(201)
  })
})

describe('A body of another JSON type than an object', () => {
  const others = ['[]', '[{"name":"a"}]', '"name"', '1', 'true', 'false']

  it.each(others)('is bad_request on POST and PATCH: %s', async (text) => {
    await expectRejectedUnchanged(() => write('POST', '/api/v1/assets', text), wrongType)
    await expectRejectedUnchanged(() => write('PATCH', `/api/v1/assets/${assetId}`, text), wrongType)
  })

  it.each(writes)('is bad_request on %s %s', async (method, path) => {
    await expectRejectedUnchanged(() => write(method, path, '[]'), wrongType)
  })

  it.each(writes)('has its own detail for null on PATCH: %s %s', async (method, path) => {
    await expectRejectedUnchanged(() => write(method, path, 'null'), method === 'PATCH' ? notAnObject : wrongType)
  })

  it('does not include {} on PATCH, which is accepted', async () => {
    expect((await write('PATCH', `/api/v1/assets/${assetId}`, '{}')).status).toBe(200)
  })
})

describe('A body with an unknown key', () => {
  it.each(writes)('is validation_error with unknown_field on %s %s and changes nothing', async (method, path) => {
    const before = await database.snapshot(org.orgId)
    const fields = ['Name', 'colour'].map((field) => ({ field, code: 'unknown_field' }))
    expectApiError(await write(method, path, '{"colour":"red","Name":null}'), 'validation_error', { fields })
    expect(await database.snapshot(org.orgId)).toBe(before)
  })
})

const nested = (levels: number, open: string, close: string, core: string): string =>
  open.repeat(levels) + core + close.repeat(levels)

describe('The depth of a body', () => {
  /** The body itself is the first level, so metadata may take 63 more. */
  const withMetadata = (metadata: string, name = 'a'): string => `{"name":"${name}","metadata":${metadata}}`

  it.each([
    ['objects', nested(62, '{"a":', '}', '{}')],
    ['arrays', `{"a":${nested(61, '[', ']', '[]')}}`],
    ['both in turn', `{"a":${nested(31, '[{"b":', '}]', '1')}}`],
  ])('may be 64 levels of %s, and they are read back as they were sent (D9)', async (_what, metadata) => {
    const made = await write('POST', '/api/v1/assets', withMetadata(metadata))
    expect(made.status, made.text).toBe(201)
    const read = await full.get(`/api/v1/assets/${made.json.data.id}`)
    expect(read.json.data.metadata).toEqual(JSON.parse(metadata))
    const path = `/api/v1/assets/${assetId}`
    const patched = await write('PATCH', path, `{"metadata":${metadata}}`)
    expect([patched.status, patched.json.data.metadata]).toEqual([200, JSON.parse(metadata)])
    await write('PATCH', path, '{"metadata":{"a":null}}')
  })

  it.each([
    ['objects', nested(63, '{"a":', '}', '{}')],
    ['arrays', `{"a":${nested(62, '[', ']', '[]')}}`],
    ['both in turn', `{"a":${nested(31, '[{"b":', '}]', '[]')}}`],
  ])('may not be 65 levels of %s: bad_request, nothing changed (D9)', async (_what, metadata) => {
    await expectRejectedUnchanged(() => write('POST', '/api/v1/assets', withMetadata(metadata)))
    await expectRejectedUnchanged(() => write('PATCH', `/api/v1/assets/${assetId}`, `{"metadata":${metadata}}`))
  })

  it.each(writes)('is limited on %s %s (D9)', async (method, path) => {
    await expectRejectedUnchanged(() => write(method, path, `{"x":${nested(64, '[', ']', '')}}`))
  })

  it('is rejected at a hundred thousand levels in the same way as at 65 (D9)', async () => {
    for (const text of [nested(100_000, '[', ']', ''), '['.repeat(500_000), nested(100_000, '{"a":', '}', '1')])
      await expectRejectedUnchanged(() => write('POST', '/api/v1/assets', text))
    expect((await full.get('/api/v1/orgs/me')).status).toBe(200)
  })

  it('is not counted inside strings', async () => {
    const text = '{[\\"'.repeat(60)
    const reply = await write('POST', '/api/v1/assets', withMetadata(`{"a":"${text}"}`))
    expect([reply.status, reply.json.data.metadata.a]).toEqual([201, '{["'.repeat(60)])
  })

  it('does not limit the number of siblings', async () => {
    const reply = await write('POST', '/api/v1/assets', withMetadata(`{"a":[${'[],'.repeat(500)}[]]}`))
    expect([reply.status, reply.json.data.metadata.a.length]).toEqual([201, 501])
  })
})

describe('A body with a duplicate key in one object', () => {
  const twice = 'Request body contains an object with a duplicate key'

  it.each([
    ['at the top', '{"name":"a","name":"b"}'],
    ['with the same value', '{"name":"a","name":"a"}'],
    ['written with an escape', '{"name":"a","n\\u0061me":"b"}'],
    ['inside metadata', '{"name":"a","metadata":{"x":1,"x":2}}'],
    ['deep inside a list', '{"name":"a","metadata":{"x":[[{"y":{"z":1,"z":2}}]]}}'],
    ['whose first value held more keys', '{"name":"a","metadata":{"x":1,"y":2},"metadata":{}}'],
    ['that is __proto__', '{"name":"a","metadata":{"__proto__":1,"__proto__":2}}'],
    ['that is empty', '{"name":"a","metadata":{"":1,"":2}}'],
    ['that no field has', '{"name":"a","colour":1,"colour":2}'],
  ])('is bad_request, %s, on POST and PATCH, and changes nothing [D52]', async (_what, text) => {
    await expectRejectedUnchanged(() => write('POST', '/api/v1/assets', text), twice)
    await expectRejectedUnchanged(() => write('PATCH', `/api/v1/assets/${assetId}`, text), twice)
  })

  it.each(writes)('is bad_request on %s %s [D52]', async (method, path) => {
    await expectRejectedUnchanged(() => write(method, path, '{"external_key":"a","external_key":"a"}'), twice)
  })

  it('is reported after a record that does not exist (D6) [D52]', async () => {
    const reply = await write('PATCH', '/api/v1/assets/4503599627370497', '{"name":"a","name":"a"}')
    expectApiError(reply, 'not_found')
  })

  it('does not include equal keys in two objects, or in a string [D52]', async () => {
    const text = '{"name":"a","metadata":{"name":"a:b,\\"x\\":1","x":[{"name":1},{"name":2}],"y":{"x":{"x":{}}}}}'
    const reply = await write('POST', '/api/v1/assets', text)
    expect([reply.status, reply.json.data?.metadata]).toEqual([201, JSON.parse(text).metadata])
  })
})
