import { expect, it } from 'vitest'
import { Site, expectApiError, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

it('A reader has at most 256 scan points, when it is added and when it is changed', async () => {
  const site = await Site.open(context.app, 'Dock')
  const { accessToken: token } = await site.org.signIn('manager')
  const send = (method: string, path: string, count: number) => {
    const scanPoints = Array.from({ length: count }, (_, index) => ({ antenna: index + 1, location_id: null }))
    return context.app.anonymous(method, path, { token, json: { name: 'Gate', scan_points: scanPoints } })
  }
  const tooMany = [{ field: 'scan_points', code: 'too_long', params: { max_length: 256 } }]
  const added = await send('POST', '/api/v1/readers', 256)
  expect(added.status, added.text).toBe(201)
  expect(added.json.data.scan_points).toHaveLength(256)
  expectApiError(await send('POST', '/api/v1/readers', 257), 400, 'validation_error', tooMany)
  const path = `/api/v1/readers/${added.json.data.id}`
  expect((await send('PATCH', path, 256)).status).toBe(200)
  expectApiError(await send('PATCH', path, 257), 400, 'validation_error', tooMany)
})
