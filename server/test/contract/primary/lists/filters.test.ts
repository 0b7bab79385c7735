import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client, Reply } from '../../../support/client.ts'
import { type Kind, type LocationJson, create, keysOf, remove } from '../../../support/master-data.ts'

const context = useApp()
const kinds: [Kind][] = [['assets'], ['locations']]

function expectKeys(reply: Reply, keys: string[]): void {
  expect(reply.status, reply.text).toBe(200)
  expect(keysOf(reply)).toEqual(keys)
  expect(reply.json.total_count).toBe(keys.length)
}

describe.each(kinds)('filters of the list of %s', (kind) => {
  const path = `/api/v1/${kind}`
  let client: Client

  beforeAll(async () => {
    client = (await context.app.newOrg()).full
    const other = (await context.app.newOrg()).full
    const rows: [key: string, isActive: boolean, isDeleted: boolean][] = [
      ['A', true, false],
      ['A,B', true, false],
      ['B', false, false],
      ['C', true, true],
      ['D', false, true],
      ['a', true, false],
      ['with blank', true, false],
      ['with+plus', true, false],
      ['äöü/&=?#%', true, false],
    ]
    for (const [external_key, is_active, isDeleted] of rows) {
      const body = { external_key, name: 'x', is_active }
      const row = await create(client, kind, body)
      await create(other, kind, body)
      if (isDeleted) await remove(client, kind, row.id)
    }
  })

  it.each([
    ['one value', 'external_key=A', ['A']],
    ['any of several values', 'external_key=a&external_key=B&external_key=A', ['A', 'B', 'a']],
    ['a value given twice', 'external_key=A&external_key=A', ['A']],
    ['values of which some match nothing', 'external_key=A&external_key=none', ['A']],
    ['a comma as part of the value', 'external_key=A,B', ['A,B']],
    ['nothing', 'external_key=none', []],
    ['a key of a deleted record', 'external_key=C', []],
    ['a substring of a key', 'external_key=with', []],
    ['a space written as plus', 'external_key=with+blank', ['with blank']],
    ['a space written as %20', 'external_key=with%20blank', ['with blank']],
    ['a plus written as %2B', 'external_key=with%2Bplus', ['with+plus']],
    ['reserved characters', `external_key=${encodeURIComponent('äöü/&=?#%')}`, ['äöü/&=?#%']],
    ['a name written with percent-encoding', 'external%5Fkey=A', ['A']],
    ['a wildcard, which is an ordinary character', 'external_key=%25', []],
  ])('external_key with %s', async (_what, query, keys) => {
    expectKeys(await client.get(path, query), keys)
  })

  const live = ['A', 'A,B', 'B', 'a', 'with blank', 'with+plus', 'äöü/&=?#%']
  const isActive = (key: string): boolean => key !== 'B' && key !== 'D'
  const withDeleted = [...live.slice(0, 3), 'C', 'D', ...live.slice(3)]
  it.each([
    ['', live],
    ['is_active=true', live.filter(isActive)],
    ['is_active=false', ['B']],
    ['include_deleted=false', live],
    ['include_deleted=true', withDeleted],
    ['include_deleted=true&is_active=true', withDeleted.filter(isActive)],
    ['include_deleted=true&is_active=false', ['B', 'D']],
    ['include_deleted=false&is_active=false', ['B']],
    ['include_deleted=true&external_key=C&external_key=A', ['A', 'C']],
    ['include_deleted=true&external_key=C&is_active=false', []],
    ['is_active=false&external_key=A', []],
    ['external_key=A&external_key=B&is_active=false', ['B']],
    ['q=with&external_key=with+blank', ['with blank']],
    ['q=with&is_active=false', []],
  ])('?%s keeps what satisfies all of it', async (query, keys) => {
    expectKeys(await client.get(path, query), keys)
  })

  it('shows a deleted record with its deleted_at, and a live one with null', async () => {
    const reply = await client.get(path, 'include_deleted=true&external_key=A&external_key=C')
    expect(reply.json.data.map((row: LocationJson) => row.deleted_at)).toEqual([null, expect.any(String)])
  })

  it('shows every deleted record with a key in addition to the live one', async () => {
    const mine = (await context.app.newOrg()).full
    for (let turn = 0; turn < 3; turn++) {
      const row = await create(mine, kind, { external_key: 'SAME', name: `turn ${turn}` })
      if (turn < 2) await remove(mine, kind, row.id)
    }
    expectKeys(await mine.get(path, 'include_deleted=true'), ['SAME', 'SAME', 'SAME'])
    expectKeys(await mine.get(path, 'include_deleted=true&external_key=SAME'), ['SAME', 'SAME', 'SAME'])
    expectKeys(await mine.get(path), ['SAME'])
  })

  it('accepts 200 keys in one request', async () => {
    const keys = Array.from({ length: 200 }, (_, at) => `none-${at}`)
    expectKeys(await client.get(path, { external_key: [...keys, 'A'] }), ['A'])
  })
})

describe('filtering locations by a deleted parent', () => {
  it('gives the same rows by id and by key with include_deleted, and none without [D25]', async () => {
    const client = (await context.app.newOrg()).full
    const old = await create(client, 'locations', { external_key: 'HALL', name: 'x' })
    const child = await create(client, 'locations', { external_key: 'CHILD', name: 'x', parent_id: old.id })
    for (const { id } of [child, old]) await remove(client, 'locations', id)
    const list = (query: string) => client.get('/api/v1/locations', query)
    const [byId, byKey] = [`parent_id=${old.id}`, 'parent_external_key=HALL']
    for (const filter of [byId, byKey]) {
      expectKeys(await list(`${filter}&include_deleted=true`), ['CHILD'])
      expectKeys(await list(`${filter}&include_deleted=true&sort=-name&limit=1`), ['CHILD'])
      expectKeys(await list(filter), [])
    }
    const row = (await list(`${byKey}&include_deleted=true`)).json.data[0]
    expect(row).toMatchObject({ parent_id: old.id, parent_external_key: 'HALL' })

    const renewed = await create(client, 'locations', { external_key: 'HALL', name: 'x' })
    await create(client, 'locations', { external_key: 'NEW', name: 'x', parent_id: renewed.id })
    expectKeys(await list(`${byKey}&include_deleted=true`), ['CHILD', 'NEW'])
    expectKeys(await list(`${byId}&include_deleted=true`), ['CHILD'])
    expectKeys(await list(byKey), ['NEW'])
  })
})

describe('filtering locations by their parent', () => {
  let org: TestOrg
  let client: Client
  const ids: Record<string, number> = {}

  beforeAll(async () => {
    org = await context.app.newOrg()
    client = org.full
    const tree: [key: string, parent: string | null][] = [
      ['HALL', null],
      ['YARD', null],
      ['H-1', 'HALL'],
      ['H-2', 'HALL'],
      ['H-GONE', 'HALL'],
      ['Y-1', 'YARD'],
      ['H-1-1', 'H-1'],
    ]
    for (const [key, parent] of tree) {
      const body = { external_key: key, name: key, is_active: key !== 'H-2', parent_external_key: parent }
      ids[key] = (await create(client, 'locations', body)).id
    }
    await remove(client, 'locations', ids['H-GONE']!)
    const other = (await context.app.newOrg()).full
    ids['FOREIGN'] = (await create(other, 'locations', { external_key: 'FOREIGN', name: 'x' })).id
    await create(other, 'locations', { external_key: 'F-1', name: 'x', parent_id: ids['FOREIGN'] })
  })

  const list = (query: string): Promise<Reply> => client.get('/api/v1/locations', query)
  const byId = (...keys: string[]): string => keys.map((key) => `parent_id=${ids[key]}`).join('&')

  it.each([
    ['one parent', ['HALL'], ['H-1', 'H-2']],
    ['any of several', ['HALL', 'H-1'], ['H-1', 'H-1-1', 'H-2']],
    ['the same one twice', ['YARD', 'YARD'], ['Y-1']],
    ['one without children', ['H-2'], []],
    ['a deleted one', ['H-GONE'], []],
  ])('keeps the children of %s, by id and by key', async (_what, parents, keys) => {
    expectKeys(await list(byId(...parents)), keys)
    expectKeys(await list(parents.map((key) => `parent_external_key=${key}`).join('&')), keys)
  })

  it.each([
    ['parent_external_key=none', []],
    ['parent_external_key=hall', []],
    ['parent_id=9007199254740991', []],
    ['parent_external_key=HALL&include_deleted=true', ['H-1', 'H-2', 'H-GONE']],
    ['parent_external_key=HALL&is_active=true', ['H-1']],
    ['parent_external_key=HALL&is_active=false', ['H-2']],
    ['parent_external_key=HALL&q=-2', ['H-2']],
    ['parent_external_key=HALL&external_key=H-1&external_key=Y-1', ['H-1']],
    ['parent_external_key=HALL&sort=-name', ['H-2', 'H-1']],
  ])('?%s', async (query, keys) => {
    expectKeys(await list(query), keys)
  })

  it('never matches records of another organization', async () => {
    expectKeys(await list(byId('FOREIGN')), [])
    expectKeys(await list('parent_external_key=FOREIGN'), [])
    expectKeys(await list(`${byId('FOREIGN')}&include_deleted=true`), [])
  })
})
