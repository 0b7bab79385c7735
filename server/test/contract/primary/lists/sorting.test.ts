import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import type { Client } from '../../../support/client.ts'
import { type Kind, type RecordJson, create, keysOf, remove } from '../../../support/master-data.ts'

let millis = Date.parse('2031-03-04T05:06:07.890Z')
const context = useApp({ clock: { millis: () => millis } })
const kinds: [Kind][] = [['assets'], ['locations']]

describe.each(kinds)('sorting the list of %s', (kind) => {
  const path = `/api/v1/${kind}`
  let client: Client

  beforeAll(async () => {
    client = (await context.app.newOrg()).full
    // Made in the order of the keys e, a, c, b, d; touched in the order c, d, a, e, b.
    const names: Record<string, string> = { e: 'x', a: 'Y', c: 'x', b: '￥', d: '😀' }
    const ids: Record<string, number> = {}
    for (const [key, name] of Object.entries(names)) {
      millis += 1
      ids[key] = (await create(client, kind, { external_key: key, name })).id
    }
    for (const key of ['c', 'd', 'a', 'e', 'b']) {
      millis += 1
      await client.patch(`${path}/${ids[key]}`, {})
    }
  })

  it.each([
    ['external_key', 'abcde'],
    ['-external_key', 'edcba'],
    ['created_at', 'eacbd'],
    ['-created_at', 'dbcae'],
    ['updated_at', 'cdaeb'],
    ['-updated_at', 'beadc'],
    ['name,external_key', 'acebd'],
    ['name,-external_key', 'aecbd'],
    ['-name,external_key', 'dbcea'],
    ['-name,-external_key', 'dbeca'],
    ['name,created_at', 'aecbd'],
    ['name,-created_at', 'acebd'],
    ['name,updated_at,external_key', 'acebd'],
    ['external_key,name', 'abcde'],
    ['created_at,name,updated_at,external_key', 'eacbd'],
  ])('sort=%s gives %s (D25)', async (sort, keys) => {
    expect(keysOf(await client.get(path, { sort })).join('')).toBe(keys)
  })

  it('is by external_key by default (D25)', async () => {
    expect(keysOf(await client.get(path)).join('')).toBe('abcde')
  })

  it('applies to filtered lists and across pages as well', async () => {
    const filtered = await client.get(path, 'sort=-created_at&external_key=a&external_key=e&external_key=b')
    expect(keysOf(filtered).join('')).toBe('bae')
    const pages = [0, 2, 4].map((offset) => client.get(path, { sort: '-updated_at', limit: 2, offset }))
    expect((await Promise.all(pages)).flatMap(keysOf).join('')).toBe('beadc')
    expect(keysOf(await client.get(path, 'q=x&sort=-created_at')).join('')).toBe('ce')
    expect(keysOf(await client.get(path, 'is_active=true&sort=updated_at')).join('')).toBe('cdaeb')
  })

  it('reflects renames and changes', async () => {
    const mine = (await context.app.newOrg()).full
    const rows: RecordJson[] = []
    for (const key of ['a', 'b', 'c']) rows.push(await create(mine, kind, { external_key: key, name: key }))
    await mine.post(`${path}/${rows[0]!.id}/rename`, { external_key: 'z' })
    expect(keysOf(await mine.get(path))).toEqual(['b', 'c', 'z'])
    expect(keysOf(await mine.get(path, 'sort=-updated_at'))[0]).toBe('z')
    await mine.patch(`${path}/${rows[2]!.id}`, { name: 'A' })
    expect(keysOf(await mine.get(path, 'sort=name'))).toEqual(['c', 'z', 'b'])
  })

  it.each([
    'name',
    '-name',
    'created_at',
    '-created_at',
    'updated_at',
    '-updated_at',
    'name,created_at',
    'external_key',
  ])('ends with the id, so %s is a total order even where all values are equal (D25)', async (sort) => {
    const mine = (await context.app.newOrg()).full
    const ids: number[] = []
    for (let turn = 0; turn < 12; turn++) {
      const row = await create(mine, kind, { external_key: 'same', name: 'same' })
      ids.push(row.id)
      await remove(mine, kind, row.id)
    }
    const shown: number[] = []
    for (let offset = 0; offset < 12; offset++) {
      const reply = await mine.get(path, { sort, include_deleted: true, limit: 1, offset })
      shown.push(...(reply.json.data as RecordJson[]).map((row) => row.id))
    }
    const rising = [...ids].sort((a, b) => a - b)
    const orders = sort.startsWith('-') ? [rising, [...rising].reverse()] : [rising]
    expect(orders).toContainEqual(shown)
  })
})
