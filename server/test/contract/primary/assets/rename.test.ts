import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { type AssetFixture, assetsPath, assetPath, useAssetFixtures } from '../../../support/assets.ts'
import type { Reply } from '../../../support/client.ts'
import { expectApiError } from '../../../support/error-response.ts'
import { create, remove } from '../../../support/master-data.ts'
import {
  expectValidationError,
  required,
  tooLong,
  tooShort,
  unknownField,
  wrongType,
} from '../../../support/validation-errors.ts'

const clock = { at: Date.parse('2026-03-02T12:00:00.000Z'), millis: () => clock.at }
const fixtures = useAssetFixtures(useApp({ clock }))

const rename = (asset: { id: number }, body: unknown, org: AssetFixture = fixtures.own): Promise<Reply> =>
  org.client.post(`${assetPath(asset)}/rename`, body)

describe('renaming an asset', () => {
  it('gives it the new key and answers the asset with a descendant count of 0 (D20)', async () => {
    const asset = await fixtures.own.create({ external_key: 'OLD', tags: [{ tag_type: 'rfid', value: 'R-1' }] })
    clock.at += 1000
    const reply = await rename(asset, { external_key: 'NEW' })
    expect(reply.status).toBe(200)
    const updated_at = new Date(clock.at).toISOString()
    const renamed = { ...asset, external_key: 'NEW', updated_at }
    expect(reply.json).toStrictEqual({ data: { ...renamed, descendant_count_affected: 0 } })
    expect(await fixtures.own.read(asset)).toStrictEqual(renamed)
  })

  it('advances updated_at strictly, also while the clock does not advance (D21)', async () => {
    const asset = await fixtures.own.create()
    const first = await rename(asset, { external_key: 'STILL-1' })
    const second = await rename(asset, { external_key: 'STILL-2' })
    const times = [asset, first.json.data, second.json.data].map(({ updated_at }) => Date.parse(updated_at))
    expect(times[1]).toBeGreaterThan(times[0]!)
    expect(times[2]).toBeGreaterThan(times[1]!)
  })

  it('to the key it has changes nothing, updated_at included (D20)', async () => {
    const asset = await fixtures.own.create({ external_key: 'SAME' })
    clock.at += 1000
    for (let round = 0; round < 2; round++) {
      const reply = await fixtures.own.expectNoChange(() => rename(asset, { external_key: 'SAME' }))
      expect(reply.status).toBe(200)
      expect(reply.json).toStrictEqual({ data: { ...asset, descendant_count_affected: 0 } })
    }
  })

  it('to a key in another case is a change', async () => {
    const asset = await fixtures.own.create({ external_key: 'case' })
    const reply = await rename(asset, { external_key: 'CASE' })
    expect(reply.json.data.external_key).toBe('CASE')
    expect(reply.json.data.updated_at > asset.updated_at).toBe(true)
  })

  it('to a key that another live asset has is a conflict and changes nothing', async () => {
    await fixtures.own.create({ external_key: 'HELD' })
    await fixtures.own.create({
      external_key: 'HELD-EXPIRED',
      valid_from: '2001-01-01T00:00:00Z',
      valid_to: '2002-01-01T00:00:00Z',
    })
    const asset = await fixtures.own.create({ external_key: 'WANTS' })
    for (const external_key of ['HELD', 'HELD-EXPIRED'])
      expectApiError(await fixtures.own.expectNoChange(() => rename(asset, { external_key })), 'conflict')
  })

  it('frees the old key at once', async () => {
    const asset = await fixtures.own.create({ external_key: 'FREED' })
    await rename(asset, { external_key: 'MOVED-ON' })
    expect((await fixtures.own.create({ external_key: 'FREED' })).id).not.toBe(asset.id)
    expectApiError(await rename(asset, { external_key: 'FREED' }), 'conflict')
  })

  it('accepts a key that only a deleted asset, a location or another organization has', async () => {
    const other = await fixtures.another()
    await other.create({ external_key: 'FOREIGN' })
    await create(fixtures.own.client, 'locations', { name: 'Dock', external_key: 'DOCK' })
    const gone = await fixtures.own.create({ external_key: 'GONE' })
    await remove(fixtures.own.client, 'assets', gone.id)
    const asset = await fixtures.own.create()
    for (const external_key of ['FOREIGN', 'DOCK', 'GONE'])
      expect((await rename(asset, { external_key })).json.data.external_key).toBe(external_key)
  })

  it('is visible in the list at once, under the new key and not under the old one', async () => {
    const asset = await fixtures.own.create({ external_key: 'LISTED-OLD' })
    await rename(asset, { external_key: 'LISTED-NEW' })
    const totals = async (query: object) => (await fixtures.own.client.get(assetsPath, { ...query })).json.total_count
    expect(await totals({ external_key: 'LISTED-OLD' })).toBe(0)
    expect(await totals({ external_key: 'LISTED-NEW' })).toBe(1)
    expect(await totals({ q: 'listed-new' })).toBe(1)
    expect(await totals({ q: 'listed-old' })).toBe(0)
  })

  it('does not change any other asset', async () => {
    const neighbour = await fixtures.own.create()
    await rename(await fixtures.own.create(), { external_key: 'APART' })
    expect(await fixtures.own.read(neighbour)).toStrictEqual(neighbour)
  })

  it('needs assets:write', async () => {
    const asset = await fixtures.own.create()
    const reader = fixtures.own.org.client('assets:read', 'locations:write')
    const send = () => reader.post(`${assetPath(asset)}/rename`, { external_key: 'X' })
    expectApiError(await fixtures.own.expectNoChange(send), 'forbidden', {
      detail: 'Missing required scope: assets:write',
    })
  })

  it.each([
    ['no key', {}, [required('external_key')]],
    ['a null key', { external_key: null }, [wrongType('external_key', 'string', 'null')]],
    ['an empty key', { external_key: '' }, [tooShort('external_key')]],
    ['a number', { external_key: 7 }, [wrongType('external_key', 'string', 'integer')]],
    ['a key that is too long', { external_key: 'x'.repeat(256) }, [tooLong('external_key', 255)]],
    ['a field besides the key', { external_key: 'X', name: 'x' }, [unknownField('name')]],
    [
      'another name for the key',
      { new_external_key: 'X', identifier: 'X' },
      ['identifier', 'new_external_key'].map(unknownField),
    ],
    ['a token', { external_key: 'X', updated_at: '2026-03-02T12:00:00.000Z' }, [unknownField('updated_at')]],
  ])('with %s is rejected and changes nothing (D20)', async (_what, body, problems) => {
    const asset = await fixtures.own.create()
    expectValidationError(await fixtures.own.expectNoChange(() => rename(asset, body)), ...problems)
  })

  it.each([['null'], ['[]'], ['"NEW"'], ['{']])('with the body %s is a bad request', async (raw) => {
    const asset = await fixtures.own.create()
    const headers = { 'content-type': 'application/json' }
    const send = () => fixtures.own.client.send('POST', `${assetPath(asset)}/rename`, { raw, headers })
    expectApiError(await fixtures.own.expectNoChange(send), 'bad_request')
  })
})
