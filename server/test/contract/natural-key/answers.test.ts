import { beforeEach, describe, expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { useDatabase } from '../../support/master-data.ts'
import {
  naturalPath,
  identifiersOf,
  createNaturalAsset,
  createNaturalLocation,
  naturalBase,
} from '../../support/natural-key.ts'

const context = useApp()
const database = useDatabase(context)

let full: Client
beforeEach(async () => {
  full = (await context.app.newOrg()).full
})

const make = {
  assets: (body: object) => createNaturalAsset(full, body),
  locations: (body: object) => createNaturalLocation(full, 'L', body),
}
const kinds = ['assets', 'locations'] as const

describe.each(kinds)('A response with %s', (kind) => {
  it('always has valid_to, null when it is unset, and leaves out other optional fields that are unset [D36]', async () => {
    const made = await make[kind]({ identifier: 'L', name: 'Bare' })
    const single = await full.get(naturalPath(kind, 'L'))
    const listed = await full.get(`${naturalBase}/${kind}`)
    const put = await full.put(naturalPath(kind, 'L'), {})
    for (const data of [made, single.json.data, listed.json.data[0], put.json.data]) {
      expect(data.valid_to).toBeNull()
      for (const field of ['description', 'current_location', 'parent', 'parent_identifier'])
        expect(data).not.toHaveProperty(field)
    }
  })

  it('shows a valid_to that is set, and null again once a PUT has cleared it [D36]', async () => {
    const made = await make[kind]({ identifier: 'L', name: 'Ending', valid_to: '2099-01-01T00:00:00+01:00' })
    expect(made.valid_to).toBe('2098-12-31T23:00:00.000Z')
    expect((await full.put(naturalPath(kind, 'L'), { valid_to: null })).json.data.valid_to).toBeNull()
    expect((await full.get(naturalPath(kind, 'L'))).json.data.valid_to).toBeNull()
  })

  it('rejects a null valid_from on create and PUT [D36]', async () => {
    await make[kind]({ identifier: 'L', name: 'x' })
    const replies = [
      await full.post(`${naturalBase}/${kind}`, { identifier: 'M', name: 'x', valid_from: null }),
      await full.put(naturalPath(kind, 'L'), { valid_from: null }),
    ]
    for (const reply of replies)
      expect([reply.status, reply.json.error.fields[0]]).toMatchObject([
        400,
        { field: 'valid_from', code: 'invalid_value' },
      ])
  })
})

describe('The tree of locations', () => {
  it('always includes valid_to [D36]', async () => {
    await createNaturalLocation(full, 'TOP')
    await createNaturalLocation(full, 'LOW', { parent_identifier: 'TOP' })
    for (const path of [naturalPath('locations', 'LOW', '/ancestors'), naturalPath('locations', 'TOP', '/children')])
      expect((await full.get(path)).json.data).toMatchObject([{ valid_to: null }])
    expect((await full.get(naturalPath('locations', 'TOP', '/descendants'))).json.data).toMatchObject([
      { valid_to: null },
    ])
  })
})

describe('A GET whose writable fields are sent back by PUT', () => {
  const writable = {
    assets: [
      'identifier',
      'name',
      'description',
      'type',
      'current_location',
      'is_active',
      'metadata',
      'valid_from',
      'valid_to',
    ],
    locations: ['identifier', 'name', 'description', 'parent_identifier', 'is_active', 'valid_from', 'valid_to'],
  }
  const bodies: [string, (typeof kinds)[number], object][] = [
    ['a bare asset', 'assets', {}],
    [
      'an asset with everything',
      'assets',
      {
        ...{
          description: '',
          type: 'person',
          current_location: 'DOCK',
          is_active: false,
          metadata: { a: null, b: [1.5] },
        },
        ...{ valid_from: '2026-01-02T03:04:05.678901Z', valid_to: '2099-01-02T03:04:05.678999Z' },
        identifiers: [{ value: 'PUT-ROUND-TRIP' }],
      },
    ],
    [
      'an asset with a window shorter than a millisecond',
      'assets',
      { valid_from: '2026-01-02T03:04:05.678100Z', valid_to: '2026-01-02T03:04:05.678900Z' },
    ],
    ['a root', 'locations', { valid_from: '1970-01-01T00:00:00.000001Z' }],
    [
      'a location with everything',
      'locations',
      {
        ...{ description: 'two\nlines', parent_identifier: 'DOCK', is_active: false, identifiers: [{ value: 'L' }] },
        ...{ valid_from: '2026-01-02T03:04:05.678901Z', valid_to: '2099-01-02T03:04:05.678999Z' },
      },
    ],
  ]

  it.each(bodies)('changes nothing of %s but updated_at [D36, D43]', async (_what, kind, body) => {
    await createNaturalLocation(full, 'DOCK')
    await make[kind]({ identifier: 'L', name: 'Round trip', ...body })
    const before = (await full.get(naturalPath(kind, 'L'))).json.data
    const stored = async () => {
      const [row] = await database.sql`
        select valid_from::text, valid_to::text from ${database.sql(kind)} where id = ${before.surrogate_id}`
      return row
    }
    const times = await stored()
    const sent = Object.fromEntries(Object.entries(before).filter(([key]) => writable[kind].includes(key)))
    const reply = await full.put(naturalPath(kind, 'L'), sent)
    expect(reply.status, reply.text).toBe(200)
    expect(reply.json.data).toStrictEqual({ ...before, updated_at: expect.any(String) })
    expect(reply.json.data.updated_at > before.updated_at).toBe(true)
    expect((await full.get(naturalPath(kind, 'L'))).json.data).toStrictEqual(reply.json.data)
    expect(await stored()).toEqual(times)
    const history = kind === 'assets' ? (await full.get(naturalPath('assets', 'L', '/history'))).json.total_count : 0
    expect(history).toBe('current_location' in body ? 1 : 0)
  })
})

describe('The type filter of the list of assets', () => {
  it.each(['person', 'inventory', 'car', ''])(
    'without a match is 200 with empty data: “%s” [D27, D37]',
    async (type) => {
      await createNaturalAsset(full, { identifier: 'L', name: 'Thing' })
      const reply = await full.get(`${naturalBase}/assets`, { type })
      expect(identifiersOf(reply)).toEqual([])
      expect(reply.json).toEqual({ data: [], limit: 50, offset: 0, total_count: 0 })
    },
  )
})
