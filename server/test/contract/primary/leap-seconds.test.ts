import { beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../support/client.ts'
import { expectValidationError } from '../../support/master-data.ts'
import { naturalPath, naturalBase } from '../../support/natural-key.ts'
import { Site, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

let site: Site
let client: Client
beforeAll(async () => {
  site = await Site.open(context.app, 'Dock')
  client = site.api
})

const read: [string, string][] = [
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ['2016-12-31T23:59:60.5Z', '2017-01-01T00:00:00.500Z'],
  ['2016-12-31t23:59:60.999999z', '2017-01-01T00:00:00.999Z'],
  ['2016-12-31T18:59:60-05:00', '2017-01-01T00:00:00.000Z'],
  ['2017-01-01T05:29:60+05:30', '2017-01-01T00:00:00.000Z'],
  ['2015-06-30T23:59:60+00:00', '2015-07-01T00:00:00.000Z'],
]

const rejected = [
  '2016-12-31T23:58:60Z',
  '2016-12-31T22:59:60Z',
  '2016-12-31T23:59:60+01:00',
  '2016-12-31T23:59:61Z',
  '9999-12-31T23:59:60Z',
]

describe('A leap second in a body', () => {
  it.each(read)('%s is read as the following second, with its fraction [D46]', async (text, shown) => {
    const made = await client.post('/api/v1/assets', { name: 'Leap', valid_from: text })
    expect([made.status, made.json.data?.valid_from]).toEqual([201, shown])
    const path = `/api/v1/assets/${made.json.data.id}`
    expect((await client.patch(path, { valid_from: shown, created_at: made.json.data.created_at })).status).toBe(200)
    expect((await client.patch(path, { valid_from: text })).json.data.valid_from).toBe(shown)
    const put = await client.put(naturalPath('assets', made.json.data.external_key), { valid_from: text })
    expect(put.json.data.valid_from).toBe(shown)
  })

  it.each(rejected)('%s is invalid_value, because :60 is not a leap second there [D46]', async (text) => {
    expectValidationError(await client.post('/api/v1/assets', { name: 'x', valid_from: text }), [
      'valid_from',
      'invalid_value',
    ])
    const location = { identifier: 'x', name: 'x', valid_to: text }
    expectValidationError(await client.post(`${naturalBase}/locations`, location), ['valid_to', 'invalid_value'])
  })

  it.each(['1969-12-31T23:59:60Z', '0000-12-31T23:59:60Z', '1970-01-01T00:59:60+01:00'])(
    '%s is read as the sentinel date that follows it, and rejected [D46]',
    async (text) => {
      expectValidationError(await client.post('/api/v1/assets', { name: 'x', valid_from: text }), [
        'valid_from',
        'invalid_value',
      ])
    },
  )
})

describe('A leap second in a query', () => {
  it('is read as the following second by from, to and at [D46]', async () => {
    const asset = await site.createAsset('Pallet')
    await site.sendReads({ tag: asset.tag, observed_at: '2026-05-03T00:00:00Z' })
    const history = `/api/v1/assets/${asset.id}/history`
    const leap = '2026-05-02T23:59:60Z'
    expect((await client.get(history, { from: leap, to: leap })).json.total_count).toBe(1)
    expect((await client.get(history, { to: '2026-05-02T23:59:59.999Z' })).json.total_count).toBe(0)
    expect(
      (await client.get(naturalPath('assets', 'PALLET', '/history'), { from: leap, to: leap })).json.total_count,
    ).toBe(1)
    expect((await client.get('/api/v1/reports/asset-locations', { at: leap })).json.total_count).toBe(1)
  })

  it.each(rejected)('%s is invalid_value for from, to and at [D46]', async (text) => {
    const asset = await site.createAsset(`Box ${text}`, { external_key: text })
    for (const name of ['from', 'to'])
      expectValidationError(await client.get(`/api/v1/assets/${asset.id}/history`, { [name]: text }), [
        name,
        'invalid_value',
      ])
    expectValidationError(await client.get('/api/v1/reports/asset-locations', { at: text }), ['at', 'invalid_value'])
  })
})
