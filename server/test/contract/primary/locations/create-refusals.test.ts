import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client } from '../../../support/client.ts'
import {
  type FieldError,
  expectNoChange,
  create,
  expectValidationError,
  expectErrorStatus,
  useDatabase,
} from '../../../support/master-data.ts'

const now = '2031-03-04T05:06:07.890Z'
const context = useApp({ clock: { millis: () => Date.parse(now) } })
const database = useDatabase(context)

let org: TestOrg
let client: Client

beforeAll(async () => {
  org = await context.app.newOrg()
  client = org.full
})

describe('creating a location rejects', () => {
  const type = (expected_type: string, received_type: string): Record<string, string> => ({
    expected_type,
    received_type,
  })
  const cases: [what: string, body: object, ...problems: FieldError[]][] = [
    ['a missing name', {}, ['name', 'required']],
    ['an empty name', { name: '' }, ['name', 'too_short', { min_length: 1 }]],
    ['a name of 256 characters', { name: 'n'.repeat(256) }, ['name', 'too_long']],
    ['a null name', { name: null }, ['name', 'invalid_value']],
    ['a number as name', { name: 7 }, ['name', 'invalid_value', type('string', 'integer')]],
    ['a line break in the name', { name: 'a\nb' }, ['name', 'invalid_value']],
    ['a NUL in the name', { name: 'a\u0000' }, ['name', 'invalid_value']],
    ['a lone surrogate in the name', { name: '\ud800' }, ['name', 'invalid_value']],
    ['metadata, which locations do not have', { name: 'x', metadata: {} }, ['metadata', 'unknown_field']],
    ['even null metadata', { name: 'x', metadata: null }, ['metadata', 'unknown_field']],
    [
      'unknown keys, all of them, sorted (D7)',
      { zeta: 1, name: 'x', Alpha: 2, colour: 3 },
      ['Alpha', 'unknown_field'],
      ['colour', 'unknown_field'],
      ['zeta', 'unknown_field'],
    ],
    ['__proto__ as a key', JSON.parse('{"name":"x","__proto__":{}}') as object, ['__proto__', 'unknown_field']],
    ['an empty key', { name: 'x', external_key: '' }, ['external_key', 'too_short', { min_length: 1 }]],
    ['a key of 256 characters', { name: 'x', external_key: 'k'.repeat(256) }, ['external_key', 'too_long']],
    ['a null key', { name: 'x', external_key: null }, ['external_key', 'invalid_value']],
    ['a control character in the key', { name: 'x', external_key: 'a\u007f' }, ['external_key', 'invalid_value']],
    ['a description of 1025 characters', { name: 'x', description: 'd'.repeat(1025) }, ['description', 'too_long']],
    ['a bell in the description', { name: 'x', description: '\u0007' }, ['description', 'invalid_value']],
    [
      'an object as description',
      { name: 'x', description: {} },
      ['description', 'invalid_value', type('string', 'object')],
    ],
    ['a null is_active', { name: 'x', is_active: null }, ['is_active', 'invalid_value']],
    [
      'the text "true" as is_active',
      { name: 'x', is_active: 'true' },
      ['is_active', 'invalid_value', type('boolean', 'string')],
    ],
    ['a null valid_from', { name: 'x', valid_from: null }, ['valid_from', 'invalid_value']],
    ['the zero date', { name: 'x', valid_from: '0001-01-01T00:00:00Z' }, ['valid_from', 'invalid_value']],
    [
      'the epoch in another offset',
      { name: 'x', valid_to: '1970-01-01T01:00:00+01:00' },
      ['valid_to', 'invalid_value'],
    ],
    ['a number as valid_to', { name: 'x', valid_to: 5 }, ['valid_to', 'invalid_value', type('string', 'integer')]],
    [
      'a window that ends as it begins',
      { name: 'x', valid_from: '2031-01-01T00:00:00Z', valid_to: '2031-01-01T00:00:00Z' },
      ['valid_to', 'invalid_value'],
    ],
    [
      'a valid_to that is now, with valid_from left to now',
      { name: 'x', valid_to: now },
      ['valid_to', 'invalid_value'],
    ],
    ['an object as tags', { name: 'x', tags: {} }, ['tags', 'invalid_value', type('array', 'object')]],
    ['a tag without a value (D17)', { name: 'x', tags: [{ tag_type: 'rfid' }] }, ['tags[0].value', 'required']],
    [
      'a tag with an empty value (D17)',
      {
        name: 'x',
        tags: [
          { tag_type: 'ble', value: '1' },
          { tag_type: 'rfid', value: '' },
        ],
      },
      ['tags[1].value', 'too_short', { min_length: 1 }],
    ],
    [
      'a tag of an unknown type (D17)',
      { name: 'x', tags: [{ tag_type: 'nfc', value: '1' }] },
      ['tags[0].tag_type', 'invalid_value'],
    ],
    ['the id, which the server assigns', { name: 'x', id: 5 }, ['id', 'unknown_field']],
    [
      'timestamps the server manages',
      { name: 'x', created_at: now, updated_at: now, deleted_at: null },
      ['created_at', 'unknown_field'],
      ['deleted_at', 'unknown_field'],
      ['updated_at', 'unknown_field'],
    ],
    [
      'several wrong fields, in the order of the table (D7)',
      { valid_to: 'x', is_active: null, description: 'd'.repeat(1025) },
      ['name', 'required'],
      ['description', 'too_long'],
      ['is_active', 'invalid_value'],
      ['valid_to', 'invalid_value'],
    ],
  ]

  it.each(cases)('%s', async (_what, body, ...problems) => {
    const reply = await expectNoChange(database.sql, org, () => client.post('/api/v1/locations', body))
    expectValidationError(reply, ...problems)
  })

  it.each(['2031-01-01', '2031/01/01', '', '2031-02-30T00:00:00Z', 'now'])(
    '%j as a date, naming the format',
    async (text) => {
      for (const field of ['valid_from', 'valid_to']) {
        const reply = await client.post('/api/v1/locations', { name: 'x', [field]: text })
        expectValidationError(reply, [field, 'invalid_value'])
        expect(reply.json.error.detail).toBe(`${field} must be an RFC 3339 timestamp`)
      }
    },
  )

  it('the whole location with 409 when one of its tags is in use (D17)', async () => {
    await create(client, 'locations', { name: 'holder', tags: [{ tag_type: 'rfid', value: 'E200-A' }] })
    const tags = [
      { tag_type: 'rfid', value: 'FREE-1' },
      { tag_type: 'rfid', value: 'e200-a' },
    ]
    const reply = await expectNoChange(database.sql, org, () => client.post('/api/v1/locations', { name: 'x', tags }))
    expectErrorStatus(reply, 409)
  })

  it.each([
    ['null', 'Request body could not be decoded as the expected type'],
    ['[]', 'Request body could not be decoded as the expected type'],
    ['"x"', 'Request body could not be decoded as the expected type'],
    ['{"name":', 'Request body is not valid JSON'],
    ['', 'Request body is not valid JSON'],
  ])('the body %s', async (raw, detail) => {
    const headers = { 'content-type': 'application/json' }
    const reply = await expectNoChange(database.sql, org, () =>
      client.send('POST', '/api/v1/locations', { raw, headers }),
    )
    expectErrorStatus(reply, 400)
    expect(reply.json.error.detail).toBe(detail)
  })

  it('a caller without locations:write', async () => {
    const reader = org.client('locations:read', 'assets:read', 'assets:write', 'tracking:read')
    const reply = await expectNoChange(database.sql, org, () => reader.post('/api/v1/locations', { name: 'x' }))
    expectErrorStatus(reply, 403)
    expect(reply.json.error.detail).toBe('Missing required scope: locations:write')
  })
})
