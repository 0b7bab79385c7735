import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { naturalRoutes, primaryRoutes } from '../../support/openapi.ts'
import { type FieldEntry, expectApiError } from '../../support/error-response.ts'
import { pathTemplateOf } from '../../support/all-routes.ts'

const context = useApp()
let full: Client
let assetId: number

beforeAll(async () => {
  full = (await context.app.newOrg()).full
  assetId = (await full.post('/api/v1/assets', { name: 'Pallet jack' })).json.data.id
})

const max = 9_007_199_254_740_991
const tooSmall = { code: 'too_small', params: { min: 1 } }
const tooLarge = { code: 'too_large', params: { max } }
const invalid = { code: 'invalid_value' }

const bad: [text: string, problem: Omit<FieldEntry, 'field'>][] = [
  ['0', tooSmall],
  ['-1', tooSmall],
  ['-9007199254740992', tooSmall],
  ['-99999999999999999999', tooSmall],
  ['9007199254740992', tooLarge],
  ['9007199254740993', tooLarge],
  ['99999999999999999999', tooLarge],
  ['9'.repeat(400), tooLarge],
  ['1.5', invalid],
  ['1.0', invalid],
  ['1e3', invalid],
  ['0x10', invalid],
  ['01', invalid],
  ['+1', invalid],
  ['%2B1', invalid],
  ['-0', invalid],
  ['abc', invalid],
  ['null', invalid],
  ['NaN', invalid],
  ['Infinity', invalid],
  ['%20', invalid],
  ['1%20', invalid],
  ['%zz', invalid],
  ['%', invalid],
  ['%FF', invalid],
  ['%00', invalid],
  ['1%002', invalid],
  ['%D9%A1', invalid],
  ['1,2', invalid],
  ['%2F', invalid],
]

describe('A path id', () => {
  it.each(bad)('of %s is rejected on asset_id', async (text, problem) => {
    const reply = await full.get(`/api/v1/assets/${text}`)
    const instance = `/api/v1/assets/${text}`
    expectApiError(reply, 'validation_error', { fields: [{ field: 'asset_id', ...problem }], instance })
  })

  const rows = [...primaryRoutes, ...naturalRoutes].flatMap((route) =>
    (route.ids ?? []).map((name) => [route.method, pathTemplateOf(route), name] as const),
  )

  it.each(rows)('is checked on %s %s for %s', async (method, path, name) => {
    for (const [text, problem] of [bad[0]!, bad[4]!, bad[16]!]) {
      const address = path.replace(/\{(\w+)\}/g, (_all, one: string) => (one === name ? text : '5'))
      const json = method === 'POST' || method === 'PATCH' ? { json: {} } : {}
      const reply = await full.send(method, address, json)
      expectApiError(reply, 'validation_error', { fields: [{ field: name, ...problem }] })
    }
  })

  it('is reported together with the other id of the path, in the order of the path', async () => {
    const reply = await full.delete('/api/v1/assets/0/tags/abc')
    const fields = [
      { field: 'asset_id', ...tooSmall },
      { field: 'tag_id', ...invalid },
    ]
    expectApiError(reply, 'validation_error', { fields })
  })

  it.each(['1', '2147483647', '2147483648', '4294967296', '9007199254740990', '9007199254740991'])(
    'of %s is in range and does not exist',
    async (text) => {
      const reply = await full.get(`/api/v1/assets/${text}`)
      expectApiError(reply, 'not_found', { instance: `/api/v1/assets/${text}` })
    },
  )

  it('may be percent-encoded', async () => {
    const encoded = String(assetId).replace(/\d/g, '%3$&')
    const reply = await full.get(`/api/v1/assets/${encoded}`)
    expect([reply.status, reply.json.data.id]).toEqual([200, assetId])
  })

  it('is expected in /locations/current, which is rejected because it is not an id (D1)', async () => {
    const reply = await full.get('/api/v1/locations/current')
    expectApiError(reply, 'validation_error', { fields: [{ field: 'location_id', ...invalid }] })
  })

  it('that was never assigned is 404, also when it is close to an existing id', async () => {
    for (const id of [assetId - 1, assetId + 1]) expectApiError(await full.get(`/api/v1/assets/${id}`), 'not_found')
  })
})
