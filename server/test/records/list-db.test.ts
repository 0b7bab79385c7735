import { expect, it } from 'vitest'
import { listDb } from '../../src/api/shared/list-db.ts'
import type { Database, Db } from '../../src/db/database.ts'

const [pointReads, searches] = [{} as Db, {} as Db]
const db = { read: pointReads, searches: () => searches } as unknown as Database
const byKey = [{ field: 'external_key', descending: false }]

it.each([
  ['a page of 50 records', { limit: 50, offset: 0, sort: byKey, filter: {} }, pointReads],
  ['a page of 51 records', { limit: 51, offset: 0, sort: byKey, filter: {} }, searches],
  ['51 records by key', { limit: 51, offset: 0, filter: { externalKeys: ['A'] } }, searches],
  ['50 records by key', { limit: 50, offset: 0, filter: { externalKeys: ['A'] } }, pointReads],
  ['a page at offset 10,000', { limit: 50, offset: 10_000, filter: {} }, pointReads],
  ['a page at offset 10,001', { limit: 50, offset: 10_001, filter: {} }, searches],
  ['a search', { limit: 50, offset: 0, filter: { q: 'fork' } }, searches],
])('reads %s on the connections for it', (_name, query, expected) => {
  expect(listDb({ db }, 1, query)).toBe(expected)
})
