import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client, Reply } from '../../../support/client.ts'
import {
  type Kind,
  type FieldError,
  type RecordJson,
  expectNoChange,
  create,
  expectValidationError,
  useDatabase,
} from '../../../support/master-data.ts'
import { naturalRoutes, primaryRoutes } from '../../../support/openapi.ts'
import { pathTemplateOf, routePath } from '../../../support/all-routes.ts'

const context = useApp()
const database = useDatabase(context)
const kinds: [Kind][] = [['assets'], ['locations']]

describe.each(kinds)('parameters of the list of %s', (kind) => {
  const path = `/api/v1/${kind}`
  let client: Client

  beforeAll(async () => {
    client = (await context.app.newOrg()).full
  })

  const cases: [query: string, ...problems: FieldError[]][] = [
    ['colour=red', ['colour', 'unknown_field']],
    ['Limit=5', ['Limit', 'unknown_field']],
    ['limit%20=5', ['limit ', 'unknown_field']],
    ['=5', ['', 'unknown_field']],
    ['external_key[]=A', ['external_key[]', 'unknown_field']],
    ['constructor=1', ['constructor', 'unknown_field']],
    ['__proto__=1', ['__proto__', 'unknown_field']],
    ['type=asset', ['type', 'unknown_field']],
    ['location=A', ['location', 'unknown_field']],
    ['parent=A', ['parent', 'unknown_field']],
    ['location_id=5', ['location_id', 'unknown_field']],
    ['location_external_key=A', ['location_external_key', 'unknown_field']],
    ['asset_id=5', ['asset_id', 'unknown_field']],
    ['asset_external_key=A', ['asset_external_key', 'unknown_field']],
    ['from=2031-01-01T00:00:00Z', ['from', 'unknown_field']],
    ['at=2031-01-01T00:00:00Z', ['at', 'unknown_field']],
    ['metadata=1', ['metadata', 'unknown_field']],
    ['name=x', ['name', 'unknown_field']],
    ['limit=5&limit=5', ['limit', 'invalid_value']],
    ['offset=5&offset=6', ['offset', 'invalid_value']],
    ['is_active=true&is_active=true', ['is_active', 'invalid_value']],
    ['include_deleted=true&include_deleted=false', ['include_deleted', 'invalid_value']],
    ['q=a&q=b', ['q', 'invalid_value']],
    ['sort=name&sort=name', ['sort', 'invalid_value']],
    ['external_key=', ['external_key', 'too_short', { min_length: 1 }]],
    ['external_key', ['external_key', 'too_short', { min_length: 1 }]],
    ['external_key=A&external_key=', ['external_key', 'too_short', { min_length: 1 }]],
    ['external_key=%00', ['external_key', 'invalid_value']],
    ['q=%ZZ', ['q', 'invalid_value']],
    ['q=100%', ['q', 'invalid_value']],
    ['q=%FF', ['q', 'invalid_value']],
    ['q=%C3', ['q', 'invalid_value']],
    ['q=%ED%A0%80', ['q', 'invalid_value']],
    ['q=%00', ['q', 'invalid_value']],
    ['external_key=%E4', ['external_key', 'invalid_value']],
    [
      'offset=-1&colour=red&limit=0&is_active=yes&sort=shape',
      ['offset', 'too_small', { min: 0 }],
      ['colour', 'unknown_field'],
      ['limit', 'too_small', { min: 1 }],
      ['is_active', 'invalid_value'],
      ['sort', 'invalid_value'],
    ],
    [
      'zeta=1&limit=500&alpha=2&external_key=',
      ['zeta', 'unknown_field'],
      ['limit', 'too_large', { max: 200 }],
      ['alpha', 'unknown_field'],
      ['external_key', 'too_short', { min_length: 1 }],
    ],
  ]
  it.each(cases)('?%s is rejected with every error in the order of the URL (D7, D27)', async (query, ...problems) => {
    expectValidationError(await client.get(path, query), ...problems)
  })

  it.each(['TRUE', 'True', '1', '0', 'yes', 'on', '', 'null', '%20true', 'true%20', 't', 'false,true'])(
    'a boolean is exactly true or false, not "%s" (D27)',
    async (text) => {
      for (const name of ['is_active', 'include_deleted'])
        expectValidationError(await client.get(path, `${name}=${text}`), [name, 'invalid_value'])
    },
  )

  const unsortable = ['id', 'description', 'is_active', 'valid_from', 'valid_to', 'deleted_at', 'tags', 'parent_id']
  unsortable.push(
    'parent_external_key',
    'metadata',
    'colour',
    '',
    'name,',
    ',name',
    'name,,external_key',
    '--name',
    '-',
  )
  unsortable.push('%2Bname', 'Name', 'name%20', 'name;external_key', 'name desc', '-name,colour', 'name,-id')
  it.each(unsortable)('sort rejects "%s" with an error on sort', async (sort) => {
    expectValidationError(await client.get(path, `sort=${sort}`), ['sort', 'invalid_value'])
  })
})

describe('the pair of parent filters', () => {
  const cases: [query: string, ...problems: FieldError[]][] = [
    [
      'parent_id=5&parent_external_key=A',
      ['parent_id', 'ambiguous_fields'],
      ['parent_external_key', 'ambiguous_fields'],
    ],
    [
      'parent_external_key=A&parent_id=5',
      ['parent_external_key', 'ambiguous_fields'],
      ['parent_id', 'ambiguous_fields'],
    ],
    [
      'parent_id=5&limit=0&parent_external_key=A&parent_id=6',
      ['parent_id', 'ambiguous_fields'],
      ['limit', 'too_small', { min: 1 }],
      ['parent_external_key', 'ambiguous_fields'],
    ],
    ['parent_id=0', ['parent_id', 'too_small', { min: 1 }]],
    ['parent_id=-5', ['parent_id', 'too_small', { min: 1 }]],
    ['parent_id=9007199254740992', ['parent_id', 'too_large', { max: 9007199254740991 }]],
    ['parent_id=', ['parent_id', 'invalid_value']],
    ['parent_id=null', ['parent_id', 'invalid_value']],
    ['parent_id=1.5', ['parent_id', 'invalid_value']],
    ['parent_id=0x10', ['parent_id', 'invalid_value']],
    ['parent_id=5&parent_id=x', ['parent_id', 'invalid_value']],
    ['parent_external_key=', ['parent_external_key', 'too_short', { min_length: 1 }]],
  ]
  it.each(cases)('?%s is rejected (D25)', async (query, ...problems) => {
    expectValidationError(await (await context.app.newOrg()).full.get('/api/v1/locations', query), ...problems)
  })

  it('is ambiguous even when both name the same parent (D25)', async () => {
    const client = (await context.app.newOrg()).full
    const hall = await create(client, 'locations', { external_key: 'HALL', name: 'x' })
    const reply = await client.get('/api/v1/locations', { parent_id: hall.id, parent_external_key: 'HALL' })
    expectValidationError(reply, ['parent_id', 'ambiguous_fields'], ['parent_external_key', 'ambiguous_fields'])
  })

  it.each(['parent_id', 'parent_external_key'])('is unknown to the list of assets: %s (D27)', async (name) => {
    expectValidationError(await (await context.app.newOrg()).full.get('/api/v1/assets', `${name}=5`), [
      name,
      'unknown_field',
    ])
  })
})

describe.each(kinds)('list parameters on one of the %s', (kind) => {
  let org: TestOrg
  let client: Client
  let record: RecordJson

  beforeAll(async () => {
    org = await context.app.newOrg()
    client = org.full
    record = await create(client, kind, { name: 'x', tags: [{ tag_type: 'rfid', value: 'T' }] })
  })

  const one = (): string => `/api/v1/${kind}/${record.id}`
  const operations: [string, (query: string) => Promise<Reply>][] = [
    ['GET', (query) => client.get(one(), query)],
    ['HEAD', (query) => client.send('HEAD', one(), { query })],
    ['POST', (query) => client.send('POST', `/api/v1/${kind}`, { query, json: { name: 'x' } })],
    ['PATCH', (query) => client.send('PATCH', one(), { query, json: { name: 'y' } })],
    ['DELETE', (query) => client.send('DELETE', one(), { query })],
    ['rename', (query) => client.send('POST', `${one()}/rename`, { query, json: { external_key: 'N' } })],
    ['tag attach', (query) => client.send('POST', `${one()}/tags`, { query, json: { tag_type: 'rfid', value: 'U' } })],
    ['tag detach', (query) => client.send('DELETE', `${one()}/tags/${record.tags[0]!.id}`, { query })],
  ]

  const parameters = [
    'limit=5',
    'offset=0',
    'external_key=A',
    'is_active=true',
    'q=a',
    'sort=name',
    'include_deleted=true',
  ]
  // Filters of the other API.
  parameters.push('location=A', 'type=asset', 'parent=A')
  parameters.push('parent_id=5', 'parent_external_key=A', 'limit=nonsense', 'include_deleted=', 'q')
  const ofReport = ['asset_id', 'asset_external_key', 'location_id', 'location_external_key', 'at']
  const table = operations.flatMap(([name, send]) => parameters.map((query) => [name, query, send] as const))

  it.each(table)('%s ?%s is invalid_context (D27)', async (name, query, send) => {
    const reply = await expectNoChange(database.sql, org, () => send(query))
    if (name === 'HEAD') expect([reply.status, reply.text]).toEqual([400, ''])
    else expectValidationError(reply, [query.split('=')[0]!, 'invalid_context'])
  })

  it.each(operations.filter(([name]) => name !== 'HEAD'))(
    '%s rejects every list filter of either API as invalid_context [D27]',
    async (_name, send) => {
      const names = ['limit', 'offset', 'sort', 'q', 'is_active', 'include_deleted', 'external_key']
      names.push('parent_id', 'parent_external_key', 'asset_id', 'asset_external_key', 'location_id')
      names.push('location_external_key', 'from', 'to', 'at', 'location', 'type', 'parent')
      const reply = await expectNoChange(database.sql, org, () => send(names.map((one) => `${one}=a`).join('&')))
      expectValidationError(reply, ...names.map((one): FieldError => [one, 'invalid_context']))
    },
  )

  it.each(operations.filter(([name]) => name !== 'HEAD'))(
    '%s distinguishes unknown parameters from list filters (D27)',
    async (_name, send) => {
      const reply = await expectNoChange(database.sql, org, () =>
        send(`q=a&colour=red&include_deleted=true&type=x&hours=5&${ofReport.map((name) => `${name}=5`).join('&')}`),
      )
      expectValidationError(
        reply,
        ['q', 'invalid_context'],
        ['colour', 'unknown_field'],
        ['include_deleted', 'invalid_context'],
        ['type', 'invalid_context'],
        ['hours', 'unknown_field'],
        ...ofReport.map((name): FieldError => [name, 'invalid_context']),
      )
    },
  )
})

describe('A list filter on a detail or write endpoint of either base', () => {
  const rows = [...primaryRoutes, ...naturalRoutes].filter((route) => route.query === undefined)

  it.each(rows.map((route) => [route.method, pathTemplateOf(route), route] as const))(
    '%s %s is 400 invalid_context (D27)',
    async (method, _path, route) => {
      const { app } = context
      const token = route.access === 'public' ? {} : { token: await (await app.newOrg()).full.token() }
      const body = route.body === undefined ? {} : { json: {} }
      for (const name of ['limit', 'q', 'include_deleted', 'parent_id', 'location']) {
        const reply = await app.anonymous(method, routePath(route), { ...token, ...body, query: `${name}=5` })
        expectValidationError(reply, [name, 'invalid_context'])
      }
    },
  )
})
