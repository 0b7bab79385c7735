import { expect } from 'vitest'
import { createUser } from '../../src/users/commands.ts'
import type { Role } from '../../src/kernel/scopes.ts'
import type { TestApp, TestOrg } from './app.ts'
import type { Reply, SendOptions } from './client.ts'

export const password = 'correct horse battery'

let people = 0
export const newEmail = (): string => `person-${++people}-${process.pid}@example.com`

export interface Person {
  userId: number
  email: string
  token: string
  refreshToken: string
}

/** A person with an account, signed in. */
export async function newPerson(org: TestOrg, role: Role, email = newEmail()): Promise<Person> {
  const { userId } = await createUser(org.app.core, org.orgId, { email, password, role })
  return signIn(org.app, email, password, userId)
}

export async function signIn(app: TestApp, email: string, given: string, userId = 0): Promise<Person> {
  const reply = await login(app, email, given)
  expect(reply.status, reply.text).toBe(200)
  const { access_token: token, refresh_token: refreshToken, user } = reply.json.data
  if (userId !== 0) expect(user.id).toBe(userId)
  return { userId: user.id, email, token, refreshToken }
}

export const login = (app: TestApp, email: string, given: string): Promise<Reply> =>
  app.anonymous('POST', '/api/v1/auth/login', { json: { email, password: given } })

export const as = (
  app: TestApp,
  { token }: { token: string },
  method: string,
  path: string,
  options: SendOptions = {},
): Promise<Reply> => app.anonymous(method, `/api/v1${path}`, { ...options, token })

/** Whether a token still opens anything. */
export const standing = async (app: TestApp, person: { token: string }): Promise<number> =>
  (await as(app, person, 'GET', '/auth/me')).status

export const renew = (app: TestApp, person: { refreshToken: string }): Promise<Reply> =>
  app.anonymous('POST', '/api/v1/auth/refresh', { json: { refresh_token: person.refreshToken } })

/** The token of a link, which stands behind the `#`. */
export function tokenOf(link: string): string {
  const [page, fragment] = link.split('#token=')
  expect(page).not.toContain('token')
  expect(fragment).toMatch(/^[\w.-]{43,}$/)
  return fragment!
}
