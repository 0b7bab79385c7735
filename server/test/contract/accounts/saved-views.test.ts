import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import { expectApiError } from '../../support/error-response.ts'

const context = useApp()

let org: TestOrg
let [viewer, admin] = ['', '']
beforeAll(async () => {
  org = await context.app.newOrg('Northwind')
  viewer = (await org.signIn('viewer')).accessToken
  admin = (await org.signIn('admin')).accessToken
})

const save = (name: string, search: string, token = viewer) =>
  context.app.anonymous('POST', '/api/v1/views', { token, json: { name, search } })
const list = async (token = viewer) => (await context.app.anonymous('GET', '/api/v1/views', { token })).json.data
const remove = (id: number, token = viewer) => context.app.anonymous('DELETE', `/api/v1/views/${id}`, { token })

describe('Saved views', () => {
  it('are kept by name for each user and organization, and a name that is saved again is replaced', async () => {
    const first = await save('Inactive', 'active=no')
    expect([first.status, first.json.data]).toEqual([
      200,
      { id: expect.any(Number), name: 'Inactive', search: 'active=no' },
    ])
    await save('All', '')
    const again = await save('Inactive', 'active=no&sort=-name')
    expect(again.json.data).toEqual({ ...first.json.data, search: 'active=no&sort=-name' })
    expect((await list()).map((one: { name: string }) => one.name)).toEqual(['All', 'Inactive'])
    const otherAdmin = (await (await context.app.newOrg()).signIn('admin')).accessToken
    expect([await list(admin), await list(otherAdmin)]).toEqual([[], []])
    for (const other of [admin, otherAdmin]) expectApiError(await remove(first.json.data.id, other), 'not_found')
    expect((await remove(first.json.data.id)).status).toBe(204)
    expectApiError(await remove(first.json.data.id), 'not_found')
    expect((await list()).map((one: { name: string }) => one.name)).toEqual(['All'])
  })

  it('are at most fifty for each user; a view that exists can still be replaced', async () => {
    for (let n = 1; n <= 50; n++) expect((await save(`View ${n}`, '', admin)).status).toBe(200)
    expectApiError(await save('One more', '', admin), 'conflict', {
      detail: 'You can save at most 50 views; delete one first',
    })
    expect((await save('View 50', 'q=new', admin)).status).toBe(200)
    expect(await list(admin)).toHaveLength(50)
  })

  it('have a name of at most 80 and a search of at most 2,000 characters', async () => {
    const other = (await org.signIn('operator')).accessToken
    const [name, search] = ['📦'.repeat(80), 'x'.repeat(2000)]
    expect((await save(name, search, other)).json.data).toMatchObject({ name, search })
    expectApiError(await save(`${name}x`, `${search}x`, other), 'validation_error', {
      fields: [
        { field: 'name', code: 'too_long', params: { max_length: 80 } },
        { field: 'search', code: 'too_long', params: { max_length: 2000 } },
      ],
    })
  })

  it.each([
    ['no name', { search: '' }, { field: 'name', code: 'required' }],
    ['an empty name', { name: '', search: '' }, { field: 'name', code: 'too_short', params: { min_length: 1 } }],
  ])('are rejected with %s', async (_what, json, field) => {
    const reply = await context.app.anonymous('POST', '/api/v1/views', { token: viewer, json })
    expectApiError(reply, 'validation_error', { fields: [field] })
  })
})
