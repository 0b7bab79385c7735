import type { AccountDeps } from '../../accounts/deps.ts'
import { assertSignupOpen } from '../../accounts/signup-policy.ts'
import { signup } from '../../accounts/signup.ts'
import {
  type SignedIn,
  endSessions,
  login,
  logout,
  refreshSession,
  switchOrganization,
  whoIs,
} from '../../accounts/sessions.ts'
import { boolean, listOf, id, text } from '../../http/validation/fields.ts'
import { type AnyRoute, type Reply, noContent, ok, route } from '../../http/route.ts'
import { type Output, component, embedded, envelope } from '../../http/openapi/response-schema.ts'
import { email, jsonBody, singleLine, newPassword, password, role, integer } from './fields.ts'

const orgExample = { id: 2251799813685311, name: 'Northwind', role: 'admin' } as const

const SessionOrganization = component('SessionOrganization', { id: id, name: singleLine, role }, orgExample)

const userExample = {
  id: 5120093347718820,
  email: 'ada@example.com',
  email_confirmed: true,
  role: 'admin',
  org: orgExample,
} as const

const SessionUser = component(
  'SessionUser',
  {
    id: id,
    email,
    email_confirmed: boolean,
    role,
    org: embedded(SessionOrganization),
    orgs: listOf(embedded(SessionOrganization)),
  },
  { ...userExample, orgs: [orgExample] },
)

const Session = component(
  'Session',
  {
    access_token: text({ max: 4096 }),
    refresh_token: text({ max: 4096 }),
    token_type: text({ max: 16 }),
    expires_in: integer,
    user: embedded(SessionUser),
  },
  {
    access_token: 'eyJ…',
    refresh_token: 'lsr_…',
    token_type: 'Bearer',
    expires_in: 900,
    user: { ...userExample, orgs: [orgExample] },
  },
)

export const sessionComponents = [SessionOrganization, SessionUser, Session]

const presentMembership = ({ orgId, orgName, role }: SignedIn['membership']) => ({ id: orgId, name: orgName, role })

const presentUser = ({
  user,
  membership,
  memberships,
}: Omit<SignedIn, 'pair'>): Output<(typeof SessionUser)['shape']> => ({
  id: user.userId,
  email: user.email,
  email_confirmed: user.isEmailConfirmed,
  role: membership.role,
  org: presentMembership(membership),
  orgs: memberships.map(presentMembership),
})

export function signedIn(status: 200 | 201, session: SignedIn): Reply {
  const data: Output<(typeof Session)['shape']> = {
    access_token: session.pair.accessToken,
    refresh_token: session.pair.refreshToken,
    token_type: 'Bearer',
    expires_in: session.pair.expiresInSeconds,
    user: presentUser(session),
  }
  return { status, headers: { 'Cache-Control': 'no-store' }, body: { data } }
}

export const inSession = (status: 200 | 201) => ({ status, description: 'Signed in', schema: envelope(Session) })

/** Signing in to the web app and out of it. Sessions use bearer tokens and no cookies. */
export function sessionRoutes(deps: AccountDeps): AnyRoute[] {
  const common = { group: 'Sessions', method: 'POST', scopes: [] } as const
  const signedOut = { status: 204, description: 'Signed out' } as const
  return [
    route({
      ...common,
      id: 'auth.login',
      path: '/auth/login',
      access: 'public',
      summary: 'Sign in',
      body: jsonBody('Login', { email, password }),
      hashesPassword: true,
      success: inSession(200),
      errorStatuses: [401, 429],
      async handle({ body, address }) {
        return signedIn(200, await login(deps, { ...body, address }))
      },
    }),
    route({
      ...common,
      id: 'auth.signup',
      path: '/auth/signup',
      access: 'public',
      summary: 'Sign up and create an organization',
      body: jsonBody('Signup', { email, password: newPassword, organization_name: singleLine }),
      hashesPassword: true,
      success: inSession(201),
      errorStatuses: [403, 409, 429],
      ensureExists: async () => assertSignupOpen(deps.signups),
      async handle({ body, address, isForwarded }) {
        const { organization_name: organizationName, ...account } = body
        return signedIn(201, await signup(deps, { ...account, organizationName, address, isForwarded: isForwarded() }))
      },
    }),
    route({
      ...common,
      id: 'auth.refresh',
      path: '/auth/refresh',
      access: 'public',
      summary: 'Exchange a refresh token for a new token pair',
      body: jsonBody('SessionRefresh', { refresh_token: password }),
      success: inSession(200),
      errorStatuses: [401, 429],
      async handle({ body, address }) {
        return signedIn(200, await refreshSession(deps, { token: body.refresh_token, address }))
      },
    }),
    route({
      ...common,
      id: 'auth.me',
      method: 'GET',
      path: '/auth/me',
      access: 'session',
      summary: 'Get the signed-in user',
      success: { status: 200, description: 'The user', schema: envelope(SessionUser) },
      async handle({ principal }) {
        return ok({ data: presentUser(await whoIs(deps, principal.orgId, Number(principal.subject))) })
      },
    }),
    route({
      ...common,
      id: 'auth.logout',
      path: '/auth/logout',
      access: 'session',
      summary: 'Sign out',
      success: signedOut,
      async handle({ principal }) {
        await logout(deps, principal.orgId, principal.sessionId)
        return noContent
      },
    }),
    route({
      ...common,
      id: 'auth.logout-everywhere',
      path: '/auth/logout-everywhere',
      access: 'session',
      summary: 'Sign out everywhere',
      description: 'Ends every session of the user, in every organization.',
      success: signedOut,
      async handle({ principal }) {
        await endSessions(deps, Number(principal.subject), 'signed_out')
        return noContent
      },
    }),
    route({
      ...common,
      id: 'auth.switch-org',
      path: '/auth/switch-org',
      access: 'session',
      summary: 'Switch to another organization',
      body: jsonBody('SwitchOrg', { org_id: id }),
      success: inSession(200),
      errorStatuses: [403],
      async handle({ principal, body }) {
        const current = { orgId: principal.orgId, sessionId: principal.sessionId, userId: Number(principal.subject) }
        return signedIn(200, await switchOrganization(deps, current, body.org_id))
      },
    }),
  ]
}
