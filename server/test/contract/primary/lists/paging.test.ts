import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client } from '../../../support/client.ts'
import {
  type Kind,
  type RecordJson,
  create,
  expectValidationError,
  expectErrorStatus,
  idsOf,
  keysOf,
} from '../../../support/master-data.ts'

const context = useApp()
const kinds: [Kind][] = [['assets'], ['locations']]
const count = 205

describe.each(kinds)('the list of %s', (kind) => {
  const path = `/api/v1/${kind}`
  let org: TestOrg
  let client: Client
  /** In the default order, by external_key. */
  let all: RecordJson[]

  beforeAll(async () => {
    org = await context.app.newOrg()
    client = org.full
    const other = (await context.app.newOrg()).full
    all = []
    for (let at = 0; at < count; at += 5) {
      const keys = [0, 1, 2, 3, 4].map((step) => `K-${String(at + step).padStart(3, '0')}`)
      const batch = keys.map((key) => create(client, kind, { external_key: key, name: 'x' }))
      all.push(...(await Promise.all(batch)))
      await create(other, kind, { external_key: keys[0], name: 'x' })
    }
  })

  it('has exactly data, limit, offset and total_count, 50 rows by default', async () => {
    const reply = await client.get(path)
    expect(reply.status).toBe(200)
    expect(reply.json).toEqual({ data: all.slice(0, 50), limit: 50, offset: 0, total_count: count })
  })

  it.each([
    ['limit=1', 1, 0],
    ['limit=200', 200, 0],
    ['offset=0', 50, 0],
    ['offset=200', 50, 200],
    ['limit=7&offset=199', 7, 199],
    ['offset=204&limit=200', 200, 204],
    ['limit=10&offset=205', 10, 205],
    ['limit=10&offset=100000', 10, 100000],
  ])('?%s is that slice of all rows with the full total', async (query, limit, offset) => {
    const reply = await client.get(path, query)
    expect(reply.status).toBe(200)
    expect(reply.json).toEqual({ data: all.slice(offset, offset + limit), limit, offset, total_count: count })
  })

  it.each(['2147483648', '9007199254740991', '9223372036854775807', '99999999999999999999999999'])(
    'is an empty page with the full total at the offset %s, filtered or not (D27)',
    async (offset) => {
      for (const filter of ['', '&include_deleted=true', '&q=K-', '&is_active=true', '&sort=-name', '&limit=200']) {
        const reply = await client.get(path, `offset=${offset}${filter}`)
        expect([reply.status, reply.json.data, reply.json.total_count]).toEqual([200, [], count])
      }
    },
  )

  it('returns every row once over all pages', async () => {
    const seen: number[] = []
    for (let offset = 0; offset < count; offset += 30)
      seen.push(...idsOf(await client.get(path, { limit: 30, offset })))
    expect(seen).toEqual(all.map((row) => row.id))
  })

  it('is empty with a count of 0 in an organization without records', async () => {
    const reply = await (await context.app.newOrg()).full.get(path)
    expect(reply.json).toEqual({ data: [], limit: 50, offset: 0, total_count: 0 })
  })

  it('shows each record as its own read does', async () => {
    const mine = (await context.app.newOrg()).full
    const first = await create(mine, kind, {
      name: 'whole',
      description: 'd',
      valid_to: '2999-01-01T00:00:00Z',
      tags: [
        { tag_type: 'rfid', value: 'T-1' },
        { tag_type: 'ble', value: 'T-2' },
      ],
    })
    const body = kind === 'locations' ? { parent_id: first.id } : { metadata: { a: [1] } }
    const second = await create(mine, kind, { name: 'second', is_active: false, ...body })
    const reply = await mine.get(path)
    expect(reply.json.data).toEqual([first, second])
    expect((await mine.get(`${path}/${second.id}`)).json.data).toEqual(reply.json.data[1])
  })

  it('contains only rows of the caller’s organization', async () => {
    const other = (await context.app.newOrg()).full
    const theirs = await create(other, kind, { external_key: 'K-000', name: 'x' })
    for (const query of ['', 'include_deleted=true', 'q=K-000', 'external_key=K-000', 'is_active=true', 'sort=-name']) {
      const reply = await other.get(path, query)
      expect([idsOf(reply), reply.json.total_count]).toEqual([[theirs.id], 1])
    }
  })

  it('answers HEAD with the headers of GET and no body', async () => {
    const [get, head] = [await client.get(path), await client.send('HEAD', path)]
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
  })

  it('needs its own read scope', async () => {
    expect((await org.client(`${kind}:read`).get(path)).status).toBe(200)
    const others = ['assets:read', 'assets:write', 'locations:read', 'locations:write', 'tracking:read']
    const reply = await org.client(...others.filter((scope) => scope !== `${kind}:read`)).get(path)
    expectErrorStatus(reply, 403)
    expect(reply.json.error.detail).toBe(`Missing required scope: ${kind}:read`)
  })

  it.each(['0', '-1', '-99999999999999999999'])('rejects the limit %s as too small (D27)', async (limit) => {
    expectValidationError(await client.get(path, `limit=${limit}`), ['limit', 'too_small', { min: 1 }])
  })

  it.each(['201', '1000', '99999999999999999999'])('rejects the limit %s as too large', async (limit) => {
    expectValidationError(await client.get(path, `limit=${limit}`), ['limit', 'too_large', { max: 200 }])
  })

  it.each(['-1', '-99999999999999999999'])('rejects the offset %s as too small (D27)', async (offset) => {
    expectValidationError(await client.get(path, `offset=${offset}`), ['offset', 'too_small', { min: 0 }])
  })

  const noIntegers = ['0x10', '1e3', '1E1', '%2B5', '+5', '%205', '5%20', '05', '00', '5.0', '5.', '.5', 'Infinity']
  noIntegers.push(
    '-Infinity',
    'NaN',
    '',
    '5,6',
    '%D9%A5',
    '1_0',
    '--1',
    '0b1',
    '5n',
    'null',
    'true',
    'five',
    '%00',
    '5%0A',
  )
  it.each(noIntegers)('rejects "%s" as limit and as offset, because it is not an integer', async (text) => {
    for (const name of ['limit', 'offset'])
      expectValidationError(await client.get(path, `${name}=${text}`), [name, 'invalid_value'])
  })

  it('uses the default order and not the order of creation', async () => {
    const mine = (await context.app.newOrg()).full
    for (const key of ['c', 'a', 'B', 'ä', '10', '9', '￥', '😀'])
      await create(mine, kind, { external_key: key, name: 'x' })
    expect(keysOf(await mine.get(path))).toEqual(['10', '9', 'B', 'a', 'c', 'ä', '￥', '😀'])
  })
})
