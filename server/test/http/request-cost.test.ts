import { afterEach, expect, it } from 'vitest'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { paging } from '../../src/api/shared/wire.ts'
import { ok, route } from '../../src/http/route.ts'
import { type MountedServer, mountRoutes, success, testRouteDefaults } from '../support/mount-routes.ts'

let mounted: MountedServer
afterEach(() => mounted.close())

it('A page counts by its size, so a tenant with small requests starts more of them than a tenant with large pages', async () => {
  const started: number[] = []
  const page = route({
    ...testRouteDefaults,
    id: 'page',
    method: 'GET',
    path: '/page',
    query: { parameters: paging },
    success,
    async handle({ principal }) {
      started.push(principal.orgId)
      await new Promise((resolve) => setTimeout(resolve, 2))
      return ok({})
    },
  })
  const queue = new FairQueue({ maxInFlight: 1 })
  mounted = await mountRoutes([page], {
    queue,
    authenticator: {
      authenticate: async (token) => ({
        kind: 'credential',
        orgId: Number(token[0]),
        subject: token,
        sessionId: '',
        namedScopes: ['ok'],
        scopes: new Set(['ok']),
        expiresAtMs: Infinity,
        kid: '',
        credentialExpiresAtMs: Infinity,
      }),
    },
  })
  const [withPages, withRows] = [1, 2]
  const get = (orgId: number, limit: number): Promise<Response> =>
    fetch(`${mounted.url}/api/v1/page?limit=${limit}`, { headers: { Authorization: `Bearer ${orgId}` } })
  await queue.acquire('other', 1)
  const requests = [
    ...Array.from({ length: 20 }, () => get(withPages, 200)),
    ...Array.from({ length: 60 }, () => get(withRows, 1)),
  ]
  await expect.poll(() => queue.waiting).toBe(80)
  queue.release('other')
  expect((await Promise.all(requests)).every(({ status }) => status === 200)).toBe(true)
  const contested = started.slice(0, started.lastIndexOf(withRows))
  const pages = contested.filter((orgId) => orgId === withPages).length
  expect(pages).toBeGreaterThan(0)
  expect(60 / pages).toBeGreaterThan(10)
})
