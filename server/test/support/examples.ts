import type { AnyRoute } from '../../src/http/route.ts'

/** A body that is good enough to reach the database, for every row that takes one. */
const bodies: Record<string, object> = {
  'oauth.token': {
    grant_type: 'client_credentials',
    client_id: '0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11',
    client_secret: `ls_${'0'.repeat(64)}`,
  },
  'auth.login': { email: 'nobody@example.com', password: 'wrong horse battery' },
  'auth.signup': { email: 'new@example.com', password: 'correct horse battery', organization_name: 'New' },
  'auth.refresh': { refresh_token: `lsr_1.0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11.${'a'.repeat(43)}` },
  'auth.switch-org': { org_id: 4_503_599_627_370_497 },
  'readers.create': { name: 'A reader' },
  'webhooks.create': { url: 'https://hooks.example.com/' },
  'api-keys.create': { name: 'A key', scopes: ['assets:read'] },
}

/** The body a row's own description shows, unless it is known here. */
export function goodBody(route: AnyRoute): object | undefined {
  return route.body === undefined ? undefined : (bodies[route.id] ?? (route.body.example as object))
}
