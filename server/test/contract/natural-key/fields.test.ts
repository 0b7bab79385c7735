import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Client, Reply } from '../../support/client.ts'
import { naturalPath, createNaturalAsset, createNaturalLocation, naturalBase } from '../../support/natural-key.ts'
import {
  expectValidationError,
  invalidValue,
  tooLong,
  tooShort,
  unknownField,
} from '../../support/validation-errors.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const context = useApp()
const database = useSnapshotDatabase(context)

let org: TestOrg
let full: Client
beforeAll(async () => {
  org = await context.app.newOrg()
  full = org.full
  await createNaturalAsset(full, { identifier: 'OLD', name: 'old', valid_from: '0000-01-01T00:00:00Z' })
  await createNaturalLocation(full, 'OLD', { valid_from: '0000-01-01T00:00:00Z' })
})

type Kind = 'assets' | 'locations'
const kinds: [Kind][] = [['assets'], ['locations']]

let made = 0
const freshKey = (): string => `NEW-${++made}`

const create = (kind: Kind, body: object): Promise<Reply> =>
  full.post(`${naturalBase}/${kind}`, { identifier: freshKey(), name: 'new', ...body })
const update = (kind: Kind, body: object): Promise<Reply> => full.put(naturalPath(kind, 'OLD'), body)

async function changingNothing(act: () => Promise<Reply>): Promise<Reply> {
  const before = await database.snapshot(org.orgId)
  const reply = await act()
  expect(await database.snapshot(org.orgId)).toBe(before)
  return reply
}

describe.each(kinds)('valid_from and valid_to of %s', (kind) => {
  const fields = ['valid_from', 'valid_to'] as const
  /** A window that ends after any time of these tests, and a window that begins before it. */
  const around = { valid_from: { valid_to: null }, valid_to: { valid_from: '0000-01-01T00:00:00Z' } }

  it.each([
    ['Z', '2026-05-04T08:00:00Z', '2026-05-04T08:00:00.000Z'],
    ['a numeric offset', '2026-05-04T10:30:00.5+02:30', '2026-05-04T08:00:00.500Z'],
    ['digits behind the milliseconds', '2026-05-04T08:00:00.999999999Z', '2026-05-04T08:00:00.999Z'],
    ['the instant after a sentinel', '0001-01-01T00:00:00.001Z', '0001-01-01T00:00:00.001Z'],
    ['the instant before a sentinel', '1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
  ])('accept RFC 3339 with %s on POST and PUT and show it in UTC with milliseconds', async (_what, sent, shown) => {
    for (const field of fields) {
      const body = { ...around[field], [field]: sent }
      expect((await create(kind, body)).json.data?.[field]).toBe(shown)
      expect((await update(kind, body)).json.data?.[field]).toBe(shown)
    }
  })

  it.each(['2026-05-04', '2026/05/04T08:00:00Z', ''])(
    'reject “%s” on POST and PUT with the message that names RFC 3339',
    async (text) => {
      for (const field of fields) {
        const problem = { ...invalidValue(field), message: `${field} must be an RFC 3339 timestamp` }
        for (const write of [create, update])
          expectValidationError(await changingNothing(() => write(kind, { [field]: text })), problem)
      }
    },
  )

  it.each([
    '0001-01-01T00:00:00Z',
    '0001-01-01T05:30:00+05:30',
    '1970-01-01T00:00:00.000Z',
    '1969-12-31T16:00:00-08:00',
  ])('reject the sentinel %s on POST and PUT', async (text) => {
    for (const field of fields)
      for (const write of [create, update]) {
        const body = { ...around[field], [field]: text }
        expectValidationError(await changingNothing(() => write(kind, body)), invalidValue(field))
      }
  })
})

describe.each(kinds)('The text fields of %s', (kind) => {
  const reference = kind === 'assets' ? 'current_location' : 'parent_identifier'

  it.each([
    ['identifier', 255],
    ['name', 255],
    ['description', 1024],
  ])('accept %s up to %i characters on POST and PUT and reject one more', async (field, max) => {
    // A PUT must not leave the record under another key than the next test uses.
    const key = (await create(kind, {})).json.data.identifier
    const writes = [
      (text: string) => create(kind, { [field]: text }),
      (text: string) => full.put(naturalPath(kind, key), { [field]: text }),
    ]
    for (const [index, write] of writes.entries()) {
      expectValidationError(await changingNothing(() => write('x'.repeat(max + 1))), tooLong(field, max))
      const longest = String(index).repeat(max)
      expect((await write(longest)).json.data?.[field]).toBe(longest)
    }
  })

  it.each(['identifier', 'name', reference])('reject an empty %s on POST and PUT', async (field) => {
    for (const write of [create, update])
      expectValidationError(await changingNothing(() => write(kind, { [field]: '' })), tooShort(field))
  })

  it(`take ${reference} up to 255 characters on POST and PUT and refuse one more`, async () => {
    const { identifier: longest } = await createNaturalLocation(full, reference.padEnd(255, 'x'))
    for (const write of [create, update]) {
      expectValidationError(
        await changingNothing(() => write(kind, { [reference]: `${longest}x` })),
        tooLong(reference, 255),
      )
      expect((await write(kind, { [reference]: longest })).json.data?.[reference]).toBe(longest)
    }
  })

  it('accept identifier values from 1 to 255 characters, on create and on attach', async () => {
    const onCreate = (value: string): Promise<Reply> => create(kind, { identifiers: [{ value }] })
    const attach = (value: string): Promise<Reply> => full.post(naturalPath(kind, 'OLD', '/identifiers'), { value })
    for (const [write, field] of [
      [onCreate, 'identifiers[0].value'],
      [attach, 'value'],
    ] as const) {
      expectValidationError(await changingNothing(() => write('')), tooShort(field))
      expectValidationError(await changingNothing(() => write('v'.repeat(256))), tooLong(field, 255))
      expect((await write(`${kind} ${field}`.padEnd(255, 'v'))).status).toBe(201)
    }
  })

  const readOnly = ['surrogate_id', 'created_at', 'updated_at', 'deleted_at']
  if (kind === 'locations') readOnly.push('parent', 'path', 'depth', 'metadata')
  it.each(readOnly)('do not include %s, which no write sets: unknown_field on POST and PUT', async (field) => {
    for (const write of [create, update])
      expectValidationError(await changingNothing(() => write(kind, { [field]: null })), unknownField(field))
  })
})

describe.each(['/api/v1', naturalBase])('location_identifier of an inventory save on %s', (base) => {
  it('is 1 to 255 characters', async () => {
    const save = (location_identifier: string): Promise<Reply> =>
      full.post(`${base}/inventory/save`, { location_identifier, asset_identifiers: ['OLD'] })
    expectValidationError(await save(''), tooShort('location_identifier'))
    expectValidationError(await save('x'.repeat(256)), tooLong('location_identifier', 255))
    const location = await createNaturalLocation(full, base.padEnd(255, 'x'))
    expect((await save(location.identifier)).status).toBe(201)
  })
})
