import { beforeAll, describe, expect, it } from 'vitest'
import { Site, expectApiError, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const path = '/api/v1/readers'

let site: Site
let tokens: Record<'viewer' | 'operator' | 'manager' | 'admin', string>

const send = (method: string, target: string, options: object = {}, token = tokens.manager) =>
  context.app.anonymous(method, target, { token, ...options })

const made = async (json: object) => {
  const reply = await send('POST', path, { json })
  expect(reply.status).toBe(201)
  return reply.json.data
}

beforeAll(async () => {
  site = await Site.open(context.app, 'Dock', 'Hall')
  const signIn = async (role: keyof typeof tokens) => (await site.org.signIn(role)).accessToken
  tokens = {
    viewer: await signIn('viewer'),
    operator: await signIn('operator'),
    manager: await signIn('manager'),
    admin: await signIn('admin'),
  }
})

describe('who may manage readers', () => {
  const operations: [string, string, (id: number) => string, object][] = [
    ['list them', 'GET', () => path, {}],
    ['read one', 'GET', (id) => `${path}/${id}`, {}],
    ['see the inbox', 'GET', () => `${path}/inbox`, {}],
    ['add one', 'POST', () => path, { json: { name: 'New' } }],
    ['change one', 'PATCH', (id) => `${path}/${id}`, { json: {} }],
    ['remove one', 'DELETE', (id) => `${path}/${id}`, {}],
  ]

  it.each(operations.filter(([, method]) => method === 'GET'))(
    'lets every role %s',
    async (_, method, target, options) => {
      const { id } = await made({ name: 'Subject' })
      for (const token of Object.values(tokens))
        expect((await send(method, target(id), options, token)).status).toBe(200)
    },
  )

  it.each(operations.filter(([, method]) => method !== 'GET'))(
    'lets only managers and admins %s',
    async (_, method, target, options) => {
      for (const token of [tokens.viewer, tokens.operator]) {
        const { id } = await made({ name: 'Subject' })
        const reply = await send(method, target(id), options, token)
        expectApiError(reply, 403, 'forbidden')
        expect(reply.json.error.detail).toBe('Missing required scope: locations:write')
        expect((await send('GET', `${path}/${id}`)).json.data.name).toBe('Subject')
      }
      for (const token of [tokens.manager, tokens.admin]) {
        const { id } = await made({ name: 'Subject' })
        const status = { POST: 201, PATCH: 200, DELETE: 204 }[method]
        expect((await send(method, target(id), options, token)).status).toBe(status)
      }
    },
  )

  it.each(operations)(
    'does not let an API credential or an anonymous client %s',
    async (_, method, target, options) => {
      const { id } = await made({ name: 'Subject' })
      expectApiError(await send(method, target(id), options, await site.api.token()), 403, 'forbidden')
      expectApiError(await context.app.anonymous(method, target(id), options), 401, 'unauthorized')
      expectApiError(await send(method, target(id), options, site.token), 401, 'unauthorized')
      expect((await send('GET', `${path}/${id}`)).status).toBe(200)
    },
  )

  it('does not let another organization see or change a reader', async () => {
    const { id } = await made({ name: 'Mine' })
    const { accessToken } = await (await context.app.newOrg()).signIn('admin')
    for (const [method, options] of [
      ['GET', {}],
      ['PATCH', { json: { name: 'Theirs' } }],
      ['DELETE', {}],
    ] as const)
      expectApiError(await send(method, `${path}/${id}`, options, accessToken), 404, 'not_found')
    expect((await send('GET', path, {}, accessToken)).json.total_count).toBe(0)
    expect((await send('GET', `${path}/${id}`)).json.data.name).toBe('Mine')
  })

  it.each([
    ['0', 'too_small'],
    ['x', 'invalid_value'],
  ])('rejects the id %s', async (id, code) => {
    const reply = await send('GET', `${path}/${id}`)
    expect([reply.status, reply.json.error.fields]).toMatchObject([400, [{ field: 'reader_id', code }]])
  })
})
