import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import type { Client } from '../../../support/client.ts'
import { type Kind, type RecordJson, create, remove } from '../../../support/master-data.ts'
import { propertyRuns } from '../../../support/rounds.ts'

let millis = Date.parse('2031-03-04T05:06:07.890Z')
const context = useApp({ clock: { millis: () => millis } })
const kinds: [Kind][] = [['assets'], ['locations']]

const fields = ['external_key', 'name', 'created_at', 'updated_at'] as const
type Field = (typeof fields)[number]
interface Term {
  field: Field
  descending: boolean
}

const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const compare =
  (terms: readonly Term[]) =>
  (a: RecordJson, b: RecordJson): number => {
    for (const { field, descending } of terms) {
      const order = byCodePoint(a[field], b[field])
      if (order !== 0) return descending ? -order : order
    }
    return 0
  }

/** Rows with few names and few moments, so that most orders have ties; keys repeat among deleted rows. */
async function fill(client: Client, kind: Kind): Promise<RecordJson[]> {
  const names = ['b', 'B', 'é', 'e\u0301', '￥', '😀']
  const made: RecordJson[] = []
  for (let turn = 0; turn < 40; turn++) {
    if (turn % 7 === 0) millis += 1
    const isDeleted = turn % 3 === 0
    const key = isDeleted ? `k${turn % 2}` : `${names[turn % 6]}-${turn}`
    const row = await create(client, kind, {
      external_key: key,
      name: names[(turn * 5) % 6],
      is_active: turn % 4 !== 0,
    })
    if (isDeleted) await remove(client, kind, row.id)
    made.push(row)
  }
  const listed = await client.get(`/api/v1/${kind}`, 'include_deleted=true&limit=200')
  expect(listed.json.data).toHaveLength(made.length)
  return listed.json.data
}

describe.each(kinds)('pages of the list of %s', (kind) => {
  let client: Client
  let all: RecordJson[]

  beforeAll(async () => {
    client = (await context.app.newOrg()).full
    all = await fill(client, kind)
  })

  const termsOf = fc
    .uniqueArray(fc.constantFrom(...fields), { maxLength: 4 })
    .chain((chosen) =>
      fc.tuple(...chosen.map((field) => fc.record({ field: fc.constant(field), descending: fc.boolean() }))),
    )
  const views = fc.constantFrom<[string, (row: RecordJson) => boolean]>(
    ['', (row) => row.deleted_at === null],
    ['include_deleted=true', () => true],
    ['is_active=true', (row) => row.deleted_at === null && row.is_active],
    ['is_active=false&include_deleted=true', (row) => !row.is_active],
    ['q=k&include_deleted=true', (row) => row.external_key.includes('k')],
  )

  it('visit each row exactly once and in order, for any sort and any limit (D25)', async () => {
    await fc.assert(
      fc.asyncProperty(termsOf, views, fc.integer({ min: 1, max: 45 }), async (terms, [view, belongs], limit) => {
        const sort = terms.map(({ field, descending }) => (descending ? '-' : '') + field).join(',')
        const order = compare(terms.length === 0 ? [{ field: 'external_key', descending: false }] : terms)
        const expected = all.filter(belongs)
        const walked: RecordJson[] = []
        for (let offset = 0; ; offset += limit) {
          const query = [`limit=${limit}&offset=${offset}`, view, sort === '' ? '' : `sort=${sort}`].filter(Boolean)
          const reply = await client.get(`/api/v1/${kind}`, query.join('&'))
          expect(reply.json).toMatchObject({ limit, offset, total_count: expected.length })
          walked.push(...(reply.json.data as RecordJson[]))
          if (offset + limit >= expected.length) break
        }
        const byId = (a: RecordJson, b: RecordJson): number => a.id - b.id
        expect([...walked].sort(byId)).toEqual([...expected].sort(byId))
        const rising = [...expected].sort((a, b) => order(a, b) || a.id - b.id).map((row) => row.id)
        const falling = [...expected].sort((a, b) => order(a, b) || b.id - a.id).map((row) => row.id)
        // The contract does not fix the direction of the id after a descending term, only that there is one.
        const orders = terms.some((term) => term.descending) ? [rising, falling] : [rising]
        expect(orders).toContainEqual(walked.map((row) => row.id))
      }),
      { numRuns: propertyRuns(60) },
    )
  })
})
