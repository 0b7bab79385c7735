import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestApp, startApp } from '../../support/app.ts'
import { Site, eventually, expectApiError, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')
const received_at = '2026-05-04T12:00:00.000Z'

let second: TestApp
let site: Site
const tokens: Record<string, string> = {}

beforeAll(async () => {
  second = await startApp({ sharesDatabaseWith: context.app, clock: context.clock, isOneOfSeveral: true })
  site = await Site.open(context.app, 'Dock')
  for (const role of ['viewer', 'operator', 'manager', 'admin'] as const)
    tokens[role] = (await site.org.signIn(role)).accessToken
})
afterAll(() => second.stop())

const ask = (readerId: number, app = context.app, token = tokens['manager']!) =>
  app.anonymous('GET', `/api/v1/readers/${readerId}/reads`, { token })

interface Shown {
  value: string
}

const values = async (readerId: number, app = context.app): Promise<string[]> =>
  (await ask(readerId, app)).json.data.map((one: Shown) => one.value)

describe('the latest reads of a reader', () => {
  it('show tag, antenna, signal, times and the record of the tag, newest first, including reads before the request', async () => {
    const pallet = await site.createAsset('Pallet')
    await site.api.post(`/api/v1/locations/${site.locations[0]!.id}/tags`, { tag_type: 'barcode', value: 'DOOR' })
    await site.post([
      { tag: pallet.tag.toLowerCase(), antenna: 1, rssi: -57.5, observed_at: '2026-05-04T11:59:58.120Z' },
      { tag: 'E2000000000000000000FFFF', antenna: 3 },
    ])
    context.clock.set('2026-05-04T12:00:00.500Z')
    await site.post([{ tag: 'DOOR' }])
    await eventually(async () =>
      expect((await ask(site.readerId)).json).toEqual({
        data: [
          {
            ...{ tag_type: 'barcode', value: 'DOOR', antenna: 1, rssi_dbm: null, observed_at: null },
            received_at: '2026-05-04T12:00:00.500Z',
            owner: { kind: 'location', id: site.locations[0]!.id, name: 'Dock' },
          },
          {
            ...{ tag_type: 'rfid', value: 'E2000000000000000000FFFF', antenna: 3, rssi_dbm: null, observed_at: null },
            ...{ received_at, owner: null },
          },
          {
            ...{ tag_type: 'rfid', value: pallet.tag, antenna: 1, rssi_dbm: -57.5 },
            ...{ observed_at: '2026-05-04T11:59:58.120Z', received_at },
            owner: { kind: 'asset', id: pallet.id, name: 'Pallet' },
          },
        ],
      }),
    )
  })

  it('are the same in every process, whichever ingested them', async () => {
    const { token, readerId } = await site.createReader()
    await site.post([{ tag: 'BEFORE-1' }], token)
    await site.post([{ tag: 'BEFORE-2' }], token, second)
    await eventually(async () => expect((await values(readerId)).toSorted()).toEqual(['BEFORE-1', 'BEFORE-2']))
    context.clock.set('2026-05-04T12:00:01Z')
    await site.post([{ tag: 'SINCE-1' }], token)
    context.clock.set('2026-05-04T12:00:02Z')
    await site.post([{ tag: 'SINCE-2' }], token, second)
    for (const app of [context.app, second])
      await eventually(async () => {
        expect((await values(readerId, app)).slice(0, 2)).toEqual(['SINCE-2', 'SINCE-1'])
        expect((await values(readerId, app)).toSorted()).toEqual(['BEFORE-1', 'BEFORE-2', 'SINCE-1', 'SINCE-2'])
      })
  })

  it('are fifty at most, also when long values require several notifications', async () => {
    const { token, readerId } = await site.createReader()
    await site.post(
      Array.from({ length: 300 }, (_, index) => ({ tag: `N-${index}` })),
      token,
    )
    await eventually(async () => expect((await values(readerId))[0]).toBe('N-299'))
    expect(await values(readerId)).toEqual(Array.from({ length: 50 }, (_, index) => `N-${299 - index}`))
    const long = (index: number): string => `${index}-${'仓'.repeat(200)}`
    await site.post(
      Array.from({ length: 60 }, (_, index) => ({ tag: long(index), type: 'barcode' })),
      token,
    )
    await eventually(async () => expect((await values(readerId))[0]).toBe(long(59)))
    expect(await values(readerId)).toHaveLength(50)
  })

  it('are collected again without duplicates when they are requested after half a minute', async () => {
    const { token, readerId } = await site.createReader()
    await site.post([{ tag: 'ONE' }], token)
    await eventually(async () => expect(await values(readerId)).toEqual(['ONE']))
    context.clock.set('2026-05-04T12:01:00Z')
    await site.post([{ tag: 'TWO' }], token)
    await eventually(async () => expect((await values(readerId)).toSorted()).toEqual(['ONE', 'TWO']))
  })

  it.each([
    ['the latest reads', 'reads'],
    ['the connection', 'connection'],
  ])('and %s are available only to managers and admins of the organization', async (_, tail) => {
    const path = `/api/v1/readers/${site.readerId}/${tail}`
    for (const role of ['viewer', 'operator'])
      expectApiError(await context.app.anonymous('GET', path, { token: tokens[role]! }), 403, 'forbidden')
    for (const role of ['manager', 'admin'])
      expect((await context.app.anonymous('GET', path, { token: tokens[role]! })).status).toBe(200)
    const other = await (await context.app.newOrg('Another')).signIn('admin')
    expectApiError(await context.app.anonymous('GET', path, { token: other.accessToken }), 404, 'not_found')
  })
})

describe('the connection of a reader', () => {
  it('has the data that was shown when it was added, without the token', async () => {
    const token = tokens['manager']!
    const made = await context.app.anonymous('POST', '/api/v1/readers', { token, json: { name: 'Gate' } })
    const { id, token: secret, ingest_url, mqtt } = made.json.data
    const reply = await context.app.anonymous('GET', `/api/v1/readers/${id}/connection`, { token })
    const { password, ...shown } = mqtt
    expect(password).toBe(secret)
    expect(reply.json).toEqual({ data: { ingest_url, mqtt: shown } })
    expect(shown).toEqual({
      url: null,
      username: String(id),
      topic: expect.stringMatching(/^lastseen\/[0-9a-f]{32}\/reads$/),
    })
    expect(reply.text).not.toContain(secret)
  })
})
