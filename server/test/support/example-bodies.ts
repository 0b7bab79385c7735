import type { AnyRoute } from '../../src/http/route.ts'

/** Bodies that pass validation, for routes whose documented example would not. */
const bodies: Record<string, object> = {
  'oauth.token': {
    grant_type: 'client_credentials',
    client_id: '0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11',
    client_secret: `ls_${'0'.repeat(64)}`,
  },
  'auth.login': { email: 'nobody@example.com', password: 'wrong horse battery' },
  'auth.signup': { email: 'new@example.com', password: 'correct horse battery', organization_name: 'New' },
  'auth.refresh': { refresh_token: `lsr_1.0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11.${'a'.repeat(43)}` },
  'auth.password': { current_password: 'correct horse battery', new_password: 'another horse battery' },
  'auth.password-reset': { email: 'nobody@example.com' },
  'auth.password-reset.confirm': { token: 'a'.repeat(43), new_password: 'another horse battery' },
  'auth.email-confirmation.confirm': { token: `lsc_1.zzzzzz.${'a'.repeat(22)}` },
  'auth.invitations.lookup': { token: `lsi_1.1.${'a'.repeat(43)}` },
  'auth.invitations.accept': { token: `lsi_1.1.${'a'.repeat(43)}`, password: 'another horse battery' },
  'members.patch': { role: 'viewer' },
  'invitations.invite': { email: 'new@example.com', role: 'viewer' },
  'auth.switch-org': { org_id: 4_503_599_627_370_497 },
  'imports.open': { kind: 'assets' },
  'imports.rows': { rows: [{ line: 2, external_key: 'A', name: 'a' }] },
  'imports.run': { skip_errors: false },
  'codes.resolve': { codes: ['a'] },
  'readers.create': { name: 'A reader' },
  'webhooks.create': { url: 'https://hooks.example.com/' },
  'api-keys.create': { name: 'A key', scopes: ['assets:read'] },
}

/** Returns a valid JSON body for the route: the one above or the documented example. */
export function validBody(route: AnyRoute): object | undefined {
  if (route.upload !== undefined) return route.upload.content['application/json']!.example as object
  return route.body === undefined ? undefined : (bodies[route.id] ?? (route.body.example as object))
}
