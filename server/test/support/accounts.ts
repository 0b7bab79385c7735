import { expect } from 'vitest'
import { createUser } from '../../src/users/commands.ts'
import type { Role } from '../../src/kernel/scopes.ts'
import type { TestApp, TestOrg } from './app.ts'
import type { Reply, SendOptions } from './client.ts'

export const password = 'correct horse battery'

let people = 0
export const newEmail = (): string => `person-${++people}-${process.pid}@example.com`

export interface TestUser {
  userId: number
  email: string
  token: string
  refreshToken: string
}

/** Creates a user and signs in. */
export async function createSignedInUser(org: TestOrg, role: Role, email = newEmail()): Promise<TestUser> {
  const { userId } = await createUser(org.app.context, org.orgId, { email, password, role })
  return signIn(org.app, email, password, userId)
}

export async function signIn(app: TestApp, email: string, given: string, userId = 0): Promise<TestUser> {
  const reply = await login(app, email, given)
  expect(reply.status, reply.text).toBe(200)
  const { access_token: token, refresh_token: refreshToken, user } = reply.json.data
  if (userId !== 0) expect(user.id).toBe(userId)
  return { userId: user.id, email, token, refreshToken }
}

export const login = (app: TestApp, email: string, given: string): Promise<Reply> =>
  app.anonymous('POST', '/api/v1/auth/login', { json: { email, password: given } })

export const requestAs = (
  app: TestApp,
  { token }: { token: string },
  method: string,
  path: string,
  options: SendOptions = {},
): Promise<Reply> => app.anonymous(method, `/api/v1${path}`, { ...options, token })

/** The status of a request with the user's access token: 200 while the session is valid, otherwise 401. */
export const sessionStatus = async (app: TestApp, person: { token: string }): Promise<number> =>
  (await requestAs(app, person, 'GET', '/auth/me')).status

export const refreshSession = (app: TestApp, person: { refreshToken: string }): Promise<Reply> =>
  app.anonymous('POST', '/api/v1/auth/refresh', { json: { refresh_token: person.refreshToken } })

/** Returns the token in the fragment of a link. */
export function tokenFromLink(link: string): string {
  const [page, fragment] = link.split('#token=')
  expect(page).not.toContain('token')
  expect(fragment).toMatch(/^[\w.-]{35,}$/)
  return fragment!
}
