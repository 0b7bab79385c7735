import { beforeAll, describe, expect, it } from 'vitest'
import { Site, type SiteAsset, expectApiError, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

let site: Site
let pallet: SiteAsset

beforeAll(async () => {
  site = await Site.open(context.app, 'Dock')
  pallet = await site.createAsset('Pallet')
  await site.sendReads({ tag: pallet.tag, observed_at: '2026-05-04T10:00:00Z' })
})

describe('who may read a history', () => {
  it.each(['tracking:read', 'scans:read'])('lets a token with %s read it (D35)', async (scope) => {
    const reply = await site.org.client(scope).get(`/api/v1/assets/${pallet.id}/history`)
    expect([reply.status, reply.json.total_count]).toEqual([200, 1])
  })

  it('lets every session read it', async () => {
    const { accessToken } = await site.org.signIn('viewer')
    const reply = await context.app.anonymous('GET', `/api/v1/assets/${pallet.id}/history`, { token: accessToken })
    expect([reply.status, reply.json.total_count]).toEqual([200, 1])
  })

  it('requires tracking:read, and no other scope is enough', async () => {
    const others = site.org.client('assets:read', 'assets:write', 'locations:read', 'locations:write')
    const reply = await others.get(`/api/v1/assets/${pallet.id}/history`)
    expectApiError(reply, 403, 'forbidden')
    expect(reply.json.error.detail).toBe('Missing required scope: tracking:read')
  })

  it('rejects a request without a token', async () => {
    const reply = await context.app.anonymous('GET', `/api/v1/assets/${pallet.id}/history`)
    expectApiError(reply, 401, 'unauthorized')
    expect(reply.headers['www-authenticate']).toBe('Bearer realm="service-api"')
    expect(reply.json.error.detail).toBe('Missing authorization header')
  })
})

describe('access to the history of an asset', () => {
  it('is 403 for an asset of another organization (D24)', async () => {
    const outsider = await context.app.newOrg()
    expectApiError(await outsider.full.get(`/api/v1/assets/${pallet.id}/history`), 403, 'forbidden')
  })

  it('is 404 for a deleted asset (D24)', async () => {
    const gone = await site.createAsset('Gone')
    await site.sendReads({ tag: gone.tag, observed_at: '2026-05-04T10:00:00Z' })
    expect((await site.api.delete(`/api/v1/assets/${gone.id}`)).status).toBe(204)
    expectApiError(await site.api.get(`/api/v1/assets/${gone.id}/history`), 404, 'not_found')
    expectApiError(await (await context.app.newOrg()).full.get(`/api/v1/assets/${gone.id}/history`), 404, 'not_found')
  })

  it('is 404 for an id that does not exist, such as a location’s', async () => {
    for (const id of [1, 9_007_199_254_740_991, site.locations[0]!.id])
      expectApiError(await site.api.get(`/api/v1/assets/${id}/history`), 404, 'not_found')
  })

  it.each([
    ['0', 'too_small', { min: 1 }],
    ['-1', 'too_small', { min: 1 }],
    ['9007199254740992', 'too_large', { max: 9_007_199_254_740_991 }],
    ['abc', 'invalid_value', undefined],
    ['1.5', 'invalid_value', undefined],
    ['PALLET', 'invalid_value', undefined],
  ])('rejects the id %s', async (id, code, params) => {
    const reply = await site.api.get(`/api/v1/assets/${id}/history`)
    expectApiError(reply, 400, 'validation_error', [
      { field: 'asset_id', code, ...(params === undefined ? {} : { params }) },
    ])
  })

  it('checks the query before the id, and the id before the lookup (D6)', async () => {
    const reply = await site.api.get('/api/v1/assets/0/history', { from: 'x' })
    expectApiError(reply, 400, 'validation_error', [{ field: 'from', code: 'invalid_value' }])
    expectApiError(await site.api.get('/api/v1/assets/7/history', { from: 'x' }), 400, 'validation_error', [
      { field: 'from', code: 'invalid_value' },
    ])
  })
})

describe('methods on a history', () => {
  it('answers HEAD with the headers of GET and no body', async () => {
    const reply = await site.api.send('HEAD', `/api/v1/assets/${pallet.id}/history`)
    expect([reply.status, reply.text]).toEqual([200, ''])
    expect(reply.headers['content-type']).toBe('application/json')
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('does not support %s', async (method) => {
    const reply = await context.app.anonymous(method, `/api/v1/assets/${pallet.id}/history`, { json: {} })
    expectApiError(reply, 405, 'method_not_allowed')
    expect(reply.headers['allow']).toBe('GET, HEAD')
    expect(await site.history(pallet)).toHaveLength(1)
  })
})
