import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { type AssetFixture, assetPath, useAssetFixtures } from '../../../support/assets.ts'
import type { Reply } from '../../../support/client.ts'
import { expectApiError } from '../../../support/error-response.ts'
import { create, remove } from '../../../support/master-data.ts'

const fixtures = useAssetFixtures(useApp())

interface TagBody {
  tag_type: string
  value: string
}

/** The four operations that attach a tag. */
const ways: [way: string, write: (org: AssetFixture, tag: TagBody) => Promise<Reply>][] = [
  ['a new asset', (org, tag) => org.post({ name: 'a', tags: [tag] })],
  ['an asset', async (org, tag) => org.client.post(`${assetPath(await org.create())}/tags`, tag)],
  ['a new location', (org, tag) => org.client.post('/api/v1/locations', { name: 'a', tags: [tag] })],
  [
    'a location',
    async (org, tag) => {
      const location = await create(org.client, 'locations', { name: 'a' })
      return org.client.post(`/api/v1/locations/${location.id}/tags`, tag)
    },
  ],
]

const pairs = ways.flatMap(([first, hold]) => ways.map(([second, take]) => [first, second, hold, take] as const))

describe('a tag', () => {
  it.each(pairs)('on %s cannot also be attached to %s (D22)', async (_first, _second, hold, take) => {
    const org = await fixtures.another()
    const tag = { tag_type: 'barcode', value: '4006381333931' }
    expect((await hold(org, tag)).status).toBe(201)
    expectApiError(await take(org, tag), 'conflict')
    const [row] = await fixtures.sql<{ count: number }[]>`select count(*) from tags where org_id = ${org.org.orgId}`
    expect(row!.count).toBe(1)
  })

  it('that is rejected leaves the asset unchanged', async () => {
    const asset = await fixtures.own.create({ tags: [{ tag_type: 'rfid', value: 'HELD' }] })
    const other = await fixtures.own.create()
    for (const owner of [asset, other]) {
      const send = () => fixtures.own.client.post(`${assetPath(owner)}/tags`, { tag_type: 'rfid', value: 'held' })
      expectApiError(await fixtures.own.expectNoChange(send), 'conflict')
    }
  })

  it('may have the same value in another organization (D22)', async () => {
    const other = await fixtures.another()
    const tags = [{ tag_type: 'rfid', value: 'E280' }]
    await fixtures.own.create({ tags })
    expect((await other.create({ tags })).tags[0]!.value).toBe('E280')
  })

  it('may have the same value under another type (D22)', async () => {
    const tags = ['rfid', 'ble', 'barcode'].map((tag_type) => ({ tag_type, value: 'ONE-VALUE' }))
    expect((await fixtures.own.create({ tags })).tags).toHaveLength(3)
  })

  it('stays in use while its owner is inactive or outside its validity (D22)', async () => {
    const held = (value: string) => [{ tag_type: 'rfid', value }]
    await fixtures.own.create({ is_active: false, tags: held('INACTIVE') })
    const past = { valid_from: '2001-01-01T00:00:00Z', valid_to: '2002-01-01T00:00:00Z' }
    await fixtures.own.create({ ...past, tags: held('EXPIRED') })
    for (const value of ['INACTIVE', 'EXPIRED'])
      expectApiError(await fixtures.own.post({ name: 'a', tags: held(value) }), 'conflict')
  })

  it('of a deleted location is free for an asset at once (D22)', async () => {
    const tags = [{ tag_type: 'ble', value: '0A:1B:2C' }]
    const dock = await create(fixtures.own.client, 'locations', { name: 'Dock', tags })
    expectApiError(await fixtures.own.post({ name: 'a', tags }), 'conflict')
    await remove(fixtures.own.client, 'locations', dock.id)
    expect((await fixtures.own.create({ tags })).tags).toHaveLength(1)
  })
})

describe('two notations', () => {
  const same: [type: string, one: string, other: string][] = [
    ['rfid', 'e280aabb', 'E280AABB'],
    ['rfid', 'Ärger', 'ÄRGER'],
    ['ble', 'aabbccddeeff', 'AABBCCDDEEFF'],
    ['ble', 'AA:BB:CC:DD:EE:01', 'aabbccddee01'],
    ['ble', 'AA-BB-CC-DD-EE-02', 'aa:bb:cc:dd:ee:02'],
    ['ble', 'aabb-ccdd:ee03', 'A:A-BBCCDDEE03'],
  ]
  it.each(same)(
    'of one %s tag, %s and %s, are the same tag, shown as first written (D22)',
    async (tag_type, one, other) => {
      for (const [written, rejected] of [
        [one, other],
        [other, one],
      ] as const) {
        const org = await fixtures.another()
        const asset = await org.create({ tags: [{ tag_type, value: written }] })
        expectApiError(await org.post({ name: 'a', tags: [{ tag_type, value: rejected }] }), 'conflict')
        expect((await org.read(asset)).tags[0]!.value).toBe(written)
      }
    },
  )

  const different: [type: string, one: string, other: string][] = [
    ['barcode', 'abc-1', 'ABC-1'],
    ['barcode', 'AA:BB', 'AABB'],
    ['barcode', '0123', '123'],
    ['barcode', 'x', 'x '],
    ['rfid', 'AA:BB', 'AABB'],
    ['rfid', 'AA-CC', 'AACC'],
    ['rfid', 'AA', ' AA'],
    ['rfid', '\u00e9', 'e\u0301'],
    ['ble', 'AA BB', 'AABB'],
    ['ble', 'AA.BB', 'AABB'],
    ['ble', 'AA_BB', 'AABB'],
  ]
  it.each(different)('of a %s tag, %j and %j, are two tags (D22)', async (tag_type, one, other) => {
    const org = await fixtures.another()
    const tags = [one, other].map((value) => ({ tag_type, value }))
    const asset = await org.create({ tags })
    expect((await org.read(asset)).tags.map((tag) => tag.value)).toEqual([one, other])
  })
})
