import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { type AssetJson, useAssetFixtures } from '../../../support/assets.ts'
import { expectValidationError, invalidValue } from '../../../support/validation-errors.ts'

const now = '2026-03-02T12:00:00.125Z'
const fixtures = useAssetFixtures(useApp({ clock: { millis: () => Date.parse(now) } }))

const firstInstant = '0000-01-01T00:00:00Z'

/** The stored column to the microsecond, in UTC. */
async function stored(asset: { id: number }, column: 'valid_from' | 'valid_to'): Promise<string> {
  const [row] = await fixtures.sql<{ text: string }[]>`
    select to_char(${fixtures.sql(column)} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US BC') as text
    from assets where org_id = ${fixtures.own.org.orgId} and id = ${asset.id}`
  return row!.text.replace(' AD', '')
}

const accepted: [what: string, sent: string, shown: string, kept: string][] = [
  ['whole seconds', '2026-05-04T08:00:00Z', '2026-05-04T08:00:00.000Z', '2026-05-04 08:00:00.000000'],
  ['one digit', '2026-05-04T08:00:00.1Z', '2026-05-04T08:00:00.100Z', '2026-05-04 08:00:00.100000'],
  ['microseconds', '2026-05-04T08:00:00.123456Z', '2026-05-04T08:00:00.123Z', '2026-05-04 08:00:00.123456'],
  ['nines to truncate', '2026-05-04T08:00:00.999999999Z', '2026-05-04T08:00:00.999Z', '2026-05-04 08:00:00.999999'],
  ['digits to truncate', '2026-05-04T08:00:00.0005009Z', '2026-05-04T08:00:00.000Z', '2026-05-04 08:00:00.000500'],
  [
    'many digits',
    `2026-05-04T08:00:00.${'12345678'.repeat(5)}Z`,
    '2026-05-04T08:00:00.123Z',
    '2026-05-04 08:00:00.123456',
  ],
  ['small letters', '2026-05-04t08:00:00z', '2026-05-04T08:00:00.000Z', '2026-05-04 08:00:00.000000'],
  ['an offset of zero', '2026-05-04T08:00:00+00:00', '2026-05-04T08:00:00.000Z', '2026-05-04 08:00:00.000000'],
  ['an unknown offset', '2026-05-04T08:00:00-00:00', '2026-05-04T08:00:00.000Z', '2026-05-04 08:00:00.000000'],
  ['an offset ahead', '2026-05-04T10:30:00.5+02:30', '2026-05-04T08:00:00.500Z', '2026-05-04 08:00:00.500000'],
  ['an offset behind', '2026-05-04T00:00:00-08:00', '2026-05-04T08:00:00.000Z', '2026-05-04 08:00:00.000000'],
  ['an offset over new year', '2027-01-01T00:30:00+01:00', '2026-12-31T23:30:00.000Z', '2026-12-31 23:30:00.000000'],
  ['a wide offset', '2026-05-04T23:59:00+23:59', '2026-05-04T00:00:00.000Z', '2026-05-04 00:00:00.000000'],
  ['a leap day', '2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z', '2024-02-29 00:00:00.000000'],
  ['the last instant', '9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999Z', '9999-12-31 23:59:59.999999'],
]

const neighbours: typeof accepted = [
  ['a second after year 1', '0001-01-01T00:00:01Z', '0001-01-01T00:00:01.000Z', '0001-01-01 00:00:01.000000'],
  ['a millisecond after year 1', '0001-01-01T00:00:00.001Z', '0001-01-01T00:00:00.001Z', '0001-01-01 00:00:00.001000'],
  [
    'a microsecond after year 1',
    '0001-01-01T00:00:00.000001Z',
    '0001-01-01T00:00:00.000Z',
    '0001-01-01 00:00:00.000001',
  ],
  [
    'a nanosecond after year 1',
    '0001-01-01T00:00:00.000000001Z',
    '0001-01-01T00:00:00.000Z',
    '0001-01-01 00:00:00.000000',
  ],
  [
    'a millisecond before year 1',
    '0000-12-31T23:59:59.999Z',
    '0000-12-31T23:59:59.999Z',
    '0001-12-31 23:59:59.999000 BC',
  ],
  ['year 1 a minute ahead', '0001-01-01T00:00:00+00:01', '0000-12-31T23:59:00.000Z', '0001-12-31 23:59:00.000000 BC'],
  ['year 1 a minute behind', '0001-01-01T00:00:00-00:01', '0001-01-01T00:01:00.000Z', '0001-01-01 00:01:00.000000'],
  ['the leap day of year 0', '0000-02-29T12:00:00Z', '0000-02-29T12:00:00.000Z', '0001-02-29 12:00:00.000000 BC'],
  ['a second after 1970', '1970-01-01T00:00:01Z', '1970-01-01T00:00:01.000Z', '1970-01-01 00:00:01.000000'],
  ['a millisecond after 1970', '1970-01-01T00:00:00.001Z', '1970-01-01T00:00:00.001Z', '1970-01-01 00:00:00.001000'],
  ['a microsecond after 1970', '1970-01-01T00:00:00.000001Z', '1970-01-01T00:00:00.000Z', '1970-01-01 00:00:00.000001'],
  [
    'a nanosecond after 1970',
    '1970-01-01T00:00:00.000000001Z',
    '1970-01-01T00:00:00.000Z',
    '1970-01-01 00:00:00.000000',
  ],
  ['a millisecond before 1970', '1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z', '1969-12-31 23:59:59.999000'],
  ['1970 an hour ahead', '1970-01-01T00:00:00+01:00', '1969-12-31T23:00:00.000Z', '1969-12-31 23:00:00.000000'],
]

describe.each(['valid_from', 'valid_to'] as const)('%s', (field) => {
  const base = field === 'valid_to' ? { valid_from: firstInstant } : {}

  it.each([...accepted, ...neighbours])(
    'accepts %s, stores microseconds and shows milliseconds, on create and on PATCH',
    async (_what, sent, shown, kept) => {
      const created = await fixtures.own.create({ ...base, [field]: sent })
      expect(created[field]).toBe(shown)
      expect(await stored(created, field)).toBe(kept)
      const asset = await fixtures.own.create(base)
      const patched = await fixtures.own.patch(asset, { [field]: sent })
      expect(patched.status, patched.text).toBe(200)
      expect(patched.json.data[field]).toBe(shown)
      expect(await stored(asset, field)).toBe(kept)
      expect((await fixtures.own.read(asset))[field]).toBe(shown)
    },
  )

  it.each([
    ['0001-01-01T00:00:00Z'],
    ['0001-01-01t00:00:00z'],
    ['0001-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00.000000000000Z'],
    ['0001-01-01T00:00:00+00:00'],
    ['0001-01-01T05:30:00+05:30'],
    ['0000-12-31T19:00:00-05:00'],
    ['1970-01-01T00:00:00Z'],
    ['1970-01-01T00:00:00.0Z'],
    ['1970-01-01T00:00:00-00:00'],
    ['1970-01-01T01:00:00+01:00'],
    ['1969-12-31T16:00:00.000-08:00'],
  ])('rejects the sentinel date %s on create and on PATCH', async (text) => {
    const asset = await fixtures.own.create(base)
    expectValidationError(
      await fixtures.own.expectNoChange(() => fixtures.own.post({ name: 'a', ...base, [field]: text })),
      invalidValue(field),
    )
    expectValidationError(
      await fixtures.own.expectNoChange(() => fixtures.own.patch(asset, { [field]: text })),
      invalidValue(field),
    )
  })

  it.each([
    ['a date', '2026-05-04'],
    ['slashes', '2026/05/04'],
    ['slashes and a time', '2026/05/04T08:00:00Z'],
    ['an empty text', ''],
    ['a space', ' '],
    ['no zone', '2026-05-04T08:00:00'],
    ['no seconds', '2026-05-04T08:00Z'],
    ['no dashes', '20260504T080000Z'],
    ['an offset without a colon', '2026-05-04T08:00:00+0200'],
    ['an offset of hours alone', '2026-05-04T08:00:00+02'],
    ['an offset of a day', '2026-05-04T08:00:00+24:00'],
    ['a point without digits', '2026-05-04T08:00:00.Z'],
    ['a comma', '2026-05-04T08:00:00,5Z'],
    ['hour 24', '2026-05-04T24:00:00Z'],
    ['minute 60', '2026-05-04T08:60:00Z'],
    ['month 13', '2026-13-01T00:00:00Z'],
    ['day 0', '2026-05-00T00:00:00Z'],
    ['a leap day in another year', '2026-02-29T00:00:00Z'],
    ['a short year', '26-05-04T08:00:00Z'],
    ['a long year', '+12026-05-04T08:00:00Z'],
    ['a trailing space', '2026-05-04T08:00:00Z '],
    ['a line break behind', '2026-05-04T08:00:00Z\n'],
    ['a zone name', '2026-05-04T08:00:00[Europe/Berlin]'],
    ['other digits', '２０２６-05-04T08:00:00Z'],
    ['seconds since 1970', '1777881600'],
    ['the word now', 'now'],
    ['the word infinity', 'infinity'],
  ])('rejects %s on create and on PATCH, with the message of the contract', async (_what, text) => {
    const problem = { ...invalidValue(field), message: `${field} must be an RFC 3339 timestamp` }
    const asset = await fixtures.own.create(base)
    expectValidationError(
      await fixtures.own.expectNoChange(() => fixtures.own.post({ name: 'a', [field]: text })),
      problem,
    )
    expectValidationError(
      await fixtures.own.expectNoChange(() => fixtures.own.patch(asset, { [field]: text })),
      problem,
    )
  })
})

describe('timestamps of an asset', () => {
  it('are initially the time of the create', async () => {
    const asset = await fixtures.own.create()
    const { valid_from, valid_to, created_at, updated_at, deleted_at } = asset
    expect({ valid_from, created_at, updated_at }).toEqual({ valid_from: now, created_at: now, updated_at: now })
    expect({ valid_to, deleted_at }).toEqual({ valid_to: null, deleted_at: null })
  })

  it('are shown in UTC with exactly three fractional digits, also when these are zeros', async () => {
    const asset = await fixtures.own.create({
      valid_from: '2026-01-01T00:00:00+14:00',
      valid_to: '2027-01-01T00:00:00Z',
    })
    await fixtures.own.patch(asset, {})
    const read = await fixtures.own.read(asset)
    for (const text of [read.valid_from, read.valid_to, read.created_at, read.updated_at])
      expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  it('keep their microseconds when another field is patched', async () => {
    const window = { valid_from: '2026-01-01T00:00:00.000001Z', valid_to: '2027-01-01T00:00:00.999999Z' }
    const asset = await fixtures.own.create(window)
    await fixtures.own.patch(asset, { name: 'New' })
    expect(await stored(asset, 'valid_from')).toBe('2026-01-01 00:00:00.000001')
    expect(await stored(asset, 'valid_to')).toBe('2027-01-01 00:00:00.999999')
  })
})

describe('the validity window', () => {
  const from = '2026-05-04T08:00:00.500000Z'
  const ends: [what: string, valid_to: string][] = [
    ['at its start', from],
    ['at its start, written elsewhere', '2026-05-04T10:00:00.5+02:00'],
    ['at its start once it is truncated to microseconds', '2026-05-04T08:00:00.500000999Z'],
    ['a microsecond before its start', '2026-05-04T08:00:00.499999Z'],
    ['before its start, on a later wall clock', '2026-05-04T09:00:00+02:00'],
    ['years before its start', '2001-01-01T00:00:00Z'],
  ]
  it.each(ends)('that ends %s is rejected on create and on PATCH (D15)', async (_what, valid_to) => {
    const problem = invalidValue('valid_to')
    expectValidationError(
      await fixtures.own.expectNoChange(() => fixtures.own.post({ name: 'a', valid_from: from, valid_to })),
      problem,
    )
    const asset = await fixtures.own.create({ valid_from: from, valid_to: '2030-01-01T00:00:00Z' })
    expectValidationError(await fixtures.own.expectNoChange(() => fixtures.own.patch(asset, { valid_to })), problem)
    const other = await fixtures.own.create()
    const both = { valid_from: from, valid_to }
    expectValidationError(await fixtures.own.expectNoChange(() => fixtures.own.patch(other, both)), problem)
  })

  it('may be one microsecond long (D15)', async () => {
    const window = { valid_from: from, valid_to: '2026-05-04T08:00:00.500001Z' }
    expect(await fixtures.own.create(window)).toMatchObject({ valid_from: '2026-05-04T08:00:00.500Z' })
    const patched = await fixtures.own.patch(await fixtures.own.create(), window)
    expect(patched.json.data).toMatchObject({ valid_to: '2026-05-04T08:00:00.500Z' })
  })

  it('that ends at or before the create is rejected when it starts with the create (D15)', async () => {
    for (const valid_to of [now, '2020-01-01T00:00:00Z'])
      expectValidationError(
        await fixtures.own.expectNoChange(() => fixtures.own.post({ name: 'a', valid_to })),
        invalidValue('valid_to'),
      )
    expect((await fixtures.own.create({ valid_to: '2026-03-02T12:00:00.126Z' })).valid_from).toBe(now)
  })

  const stands = { valid_from: '2026-01-01T00:00:00Z', valid_to: '2027-01-01T00:00:00Z' }
  const standing = (): Promise<AssetJson> => fixtures.own.create(stands)

  it('is checked on PATCH with the stored end, and the error is on valid_to (D15)', async () => {
    const asset = await standing()
    for (const valid_from of [stands.valid_to, '2028-01-01T00:00:00Z'])
      expectValidationError(
        await fixtures.own.expectNoChange(() => fixtures.own.patch(asset, { valid_from })),
        invalidValue('valid_to'),
      )
  })

  it('may be moved when both ends are sent, and has no end when valid_to is cleared', async () => {
    const asset = await standing()
    const later = { valid_from: '2030-01-01T00:00:00.000Z', valid_to: '2031-01-01T00:00:00.000Z' }
    expect((await fixtures.own.patch(asset, later)).json.data).toMatchObject(later)
    const open = { valid_from: '2040-01-01T00:00:00.000Z', valid_to: null }
    expect((await fixtures.own.patch(asset, open)).json.data).toMatchObject(open)
  })
})
