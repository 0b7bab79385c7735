import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { type Kind, type RecordJson, create, expectValidationError, useDatabase } from '../../support/master-data.ts'

const context = useApp()
const database = useDatabase(context)
const kinds: [Kind][] = [['assets'], ['locations']]

describe.each(kinds)('A PATCH of %s that sends back what a GET shows', (kind) => {
  let client: Client
  beforeAll(async () => {
    client = (await context.app.newOrg()).full
  })

  const pathOf = ({ id }: { id: number }): string => `/api/v1/${kind}/${id}`

  /** The stored times to the microsecond. */
  const stored = async ({ id }: { id: number }) => {
    const [row] = await database.sql`
      select valid_from::text, valid_to::text, created_at::text from ${database.sql(kind)} where id = ${id}`
    return row
  }

  /** Sends the body and expects that neither the shown nor the stored record changes. */
  async function changesNothing(record: RecordJson, body: object): Promise<void> {
    const before = await stored(record)
    const shown: RecordJson = (await client.get(pathOf(record))).json.data
    const reply = await client.patch(pathOf(record), body)
    expect(reply.status, reply.text).toBe(200)
    expect(reply.json.data).toStrictEqual({ ...shown, updated_at: expect.any(String) })
    expect(await stored(record)).toEqual(before)
  }

  const windows: [string, object][] = [
    ['microseconds', { valid_from: '2026-03-02T12:34:56.789123Z', valid_to: '2099-03-02T12:34:56.789999Z' }],
    ['a neighbour of the sentinel of year 1', { valid_from: '0001-01-01T00:00:00.000001Z' }],
    ['a neighbour of the sentinel of 1970', { valid_from: '1970-01-01T00:00:00.000999Z' }],
    ['a time that is truncated to the sentinel', { valid_from: '1970-01-01T00:00:00.0000001Z' }],
    [
      'an end beside a sentinel',
      { valid_from: '1969-12-31T00:00:00.000001Z', valid_to: '1970-01-01T00:00:00.000001Z' },
    ],
    [
      'a window shorter than a millisecond',
      { valid_from: '2026-03-02T12:34:56.789100Z', valid_to: '2026-03-02T12:34:56.789900Z' },
    ],
    [
      'a short window beside a sentinel',
      { valid_from: '1970-01-01T00:00:00.000001Z', valid_to: '1970-01-01T00:00:00.000002Z' },
    ],
  ]

  it.each(windows)('keeps %s, in the whole body and field by field [D43]', async (_what, window) => {
    const record = await create(client, kind, { name: 'Finer', ...window })
    await changesNothing(record, record)
    const { data } = (await client.get(pathOf(record))).json
    await changesNothing(record, data)
    await changesNothing(record, { valid_from: record.valid_from })
    await changesNothing(record, { valid_to: record.valid_to })
    await changesNothing(record, { valid_from: record.valid_from, valid_to: record.valid_to })
  })

  it('accepts every timestamp field with an offset and more digits as the same time [D43]', async () => {
    const record = await create(client, kind, {
      name: 'Finer',
      valid_from: '2026-03-02T12:34:56.789123Z',
      valid_to: '2099-03-02T12:34:56.789999Z',
    })
    await changesNothing(record, {
      valid_from: '2026-03-02T13:34:56.789000+01:00',
      valid_to: '2099-03-02T12:34:56.7890-00:00',
    })
  })

  it('keeps microseconds of created_at and updated_at, which only a restore can write [D43]', async () => {
    const record = await create(client, kind, { name: 'Restored' })
    await database.sql`
      update ${database.sql(kind)} set created_at = '2026-03-02 12:34:56.789123+00', updated_at = '2026-03-02 12:34:56.789999+00'
      where id = ${record.id}`
    const shown: RecordJson = (await client.get(pathOf(record))).json.data
    expect(shown).toMatchObject({ created_at: '2026-03-02T12:34:56.789Z', updated_at: '2026-03-02T12:34:56.789Z' })
    await changesNothing(record, { created_at: shown.created_at, updated_at: shown.updated_at, deleted_at: null })
  })

  it('stores a time that is more precise than the one shown [D43]', async () => {
    const record = await create(client, kind, { name: 'Finer', valid_from: '2026-03-02T12:34:56.789123Z' })
    expect((await client.patch(pathOf(record), { valid_from: '2026-03-02T12:34:56.789456Z' })).status).toBe(200)
    expect((await stored(record))!['valid_from']).toBe('2026-03-02 12:34:56.789456+00')
  })

  it.each(['0001-01-01T00:00:00Z', '1970-01-01T01:00:00+01:00'])(
    'rejects the sentinel %s where another time is shown, and changes nothing [D43]',
    async (sentinel) => {
      const record = await create(client, kind, { name: 'Finer', valid_to: '2099-01-01T00:00:00Z' })
      const before = await stored(record)
      for (const field of ['valid_from', 'valid_to']) {
        const reply = await client.patch(pathOf(record), { name: 'x', [field]: sentinel })
        expectValidationError(reply, [field, 'invalid_value'])
      }
      expect(await stored(record)).toEqual(before)
      expect((await client.get(pathOf(record))).json.data).toStrictEqual(record)
    },
  )

  it('checks the window with the stored, more precise end when only the start changes [D15, D43]', async () => {
    const record = await create(client, kind, { name: 'Finer', valid_to: '2099-03-02T12:34:56.789500Z' })
    const move = (valid_from: string) => client.patch(pathOf(record), { valid_from, valid_to: record.valid_to })
    expectValidationError(await move('2099-03-02T12:34:56.789500Z'), ['valid_to', 'invalid_value'])
    expect((await move('2099-03-02T12:34:56.789499Z')).status).toBe(200)
    expect((await stored(record))!['valid_to']).toBe('2099-03-02 12:34:56.7895+00')
  })
})

describe('A PATCH of an asset that sends back its metadata', () => {
  it('changes nothing, also where a member is null [D43]', async () => {
    const client = (await context.app.newOrg()).full
    const metadata = { a: null, b: { c: null, d: [null, { e: null }] }, f: 1.5 }
    const asset = await create(client, 'assets', { name: 'Nulls', metadata })
    const reply = await client.patch(`/api/v1/assets/${asset.id}`, { metadata })
    expect(reply.json.data.metadata).toEqual(metadata)
    const less = await client.patch(`/api/v1/assets/${asset.id}`, { metadata: { a: null } })
    expect(less.json.data.metadata).toEqual({ b: metadata.b, f: 1.5 })
  })
})
