import {
  type SessionNeeds,
  type SignedIn,
  login,
  logout,
  refreshSession,
  signup,
  switchOrganization,
} from '../../credentials/sessions.ts'
import { reference, text } from '../../http/fields.ts'
import { type AnyRoute, type Answer, noContent, route } from '../../http/route.ts'
import type { Field, Shape } from '../../http/schema.ts'

const emailPattern = /^[^\s@]+@[^\s@]+$/
const line = text({ min: 1, max: 255 })

const email: Field<string> = {
  schema: { type: 'string', format: 'email', maxLength: 255 },
  read(value, at, report) {
    const given = line.read(value, at, report)
    if (given === undefined || emailPattern.test(given)) return given
    report.problems.push({ field: at, code: 'invalid_value', message: `${at} must be an e-mail address` })
    return undefined
  },
}

const password = text({ min: 1, max: 1024 })
const newPassword = text({ min: 10, max: 1024 })

const presentMembership = (one: SignedIn['membership']) => ({ id: one.orgId, name: one.orgName, role: one.role })

function answer(status: 200 | 201, { pair, user, membership, memberships }: SignedIn): Answer {
  return {
    status,
    headers: { 'Cache-Control': 'no-store' },
    body: {
      data: {
        access_token: pair.accessToken,
        refresh_token: pair.refreshToken,
        token_type: 'Bearer',
        expires_in: pair.expiresInSeconds,
        user: {
          id: user.userId,
          email: user.email,
          role: membership.role,
          org: presentMembership(membership),
          orgs: memberships.map(presentMembership),
        },
      },
    },
  }
}

const json = <S extends Shape>(name: string, shape: S) =>
  ({ mediaType: 'application/json', name, shape, example: {} }) as const

/** Signing in and out of the web app. Sessions are bearer tokens like any other; there are no cookies. */
export function sessionRoutes(needs: SessionNeeds): AnyRoute[] {
  const common = {
    group: 'Sessions',
    method: 'POST',
    scopes: [],
    success: { status: 200, description: 'Signed in' },
  } as const
  return [
    route({
      ...common,
      id: 'auth.login',
      path: '/auth/login',
      access: 'public',
      summary: 'Sign in',
      body: json('Login', { email, password }),
      async handle({ body, address }) {
        return answer(200, await login(needs, { ...body, address }))
      },
    }),
    route({
      ...common,
      id: 'auth.signup',
      path: '/auth/signup',
      access: 'public',
      summary: 'Sign up and create an organization',
      body: json('Signup', { email, password: newPassword, organization_name: line }),
      async handle({ body }) {
        const { organization_name: organizationName, ...account } = body
        return answer(201, await signup(needs, { ...account, organizationName }))
      },
    }),
    route({
      ...common,
      id: 'auth.refresh',
      path: '/auth/refresh',
      access: 'public',
      summary: 'Trade a refresh token for the next pair',
      body: json('SessionRefresh', { refresh_token: password }),
      async handle({ body, address }) {
        return answer(200, await refreshSession(needs, { token: body.refresh_token, address }))
      },
    }),
    route({
      ...common,
      id: 'auth.logout',
      path: '/auth/logout',
      access: 'session',
      summary: 'Sign out',
      async handle({ caller }) {
        await logout(needs, caller.orgId, caller.sessionId)
        return noContent
      },
    }),
    route({
      ...common,
      id: 'auth.switch-org',
      path: '/auth/switch-org',
      access: 'session',
      summary: 'Continue in another organization',
      body: json('SwitchOrg', { org_id: reference }),
      async handle({ caller, body }) {
        const current = { orgId: caller.orgId, sessionId: caller.sessionId, userId: Number(caller.subject) }
        return answer(200, await switchOrganization(needs, current, body.org_id))
      },
    }),
  ]
}
