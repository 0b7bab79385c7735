import { beforeAll, describe, expect, it } from 'vitest'
import { createUser } from '../../../src/users/commands.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import { ManualClock, claimsOf, newTokens, refresh, useSql, whoAmI } from '../../support/auth.ts'
import type { Reply } from '../../support/client.ts'
import { type FieldEntry, expectApiError } from '../../support/error-response.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSql(context)
const password = 'correct horse battery'

let org: TestOrg
let person: { email: string; userId: number }
beforeAll(async () => {
  org = await context.app.newOrg('Northwind')
  person = await newPerson(org)
})

let lastPerson = 0
const newEmail = (): string => `person-${++lastPerson}@example.com`
const newPerson = (where: TestOrg) =>
  createUser(context.app.context, where.orgId, { email: newEmail(), password, role: 'manager' })

const post = (path: string, json: unknown, token?: string): Promise<Reply> =>
  context.app.anonymous('POST', `/api/v1/auth/${path}`, { json, ...(token === undefined ? {} : { token }) })
const login = (email = person.email, given = password): Promise<Reply> => post('login', { email, password: given })
const renew = (token: string): Promise<Reply> => post('refresh', { refresh_token: token })
const assets = (token: string): Promise<Reply> => context.app.anonymous('GET', '/api/v1/assets', { token })

interface Session {
  access_token: string
  refresh_token: string
}

async function session(reply: Reply | Promise<Reply>, status = 200): Promise<Session> {
  const answer = await reply
  expect(answer.status, answer.text).toBe(status)
  return answer.json.data
}

const invalid = { detail: 'Invalid or expired token' }
const shape = (user: object) => ({
  data: {
    access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    refresh_token: expect.stringMatching(/./),
    token_type: 'Bearer',
    expires_in: 900,
    user: expect.objectContaining(user),
  },
})

async function count(table: 'users' | 'organizations' | 'refresh_token_families'): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`select count(*) from ${database.sql(table)}`
  return row!.count
}

describe('POST /api/v1/auth/login (D39)', () => {
  it('answers the right e-mail address and password with tokens and the user', async () => {
    const reply = await login()
    expect(reply.status).toBe(200)
    expect(reply.json).toEqual(shape({ id: person.userId, email: person.email, role: 'manager' }))
  })

  it('answers with Cache-Control: no-store and sets no cookie (D41)', async () => {
    const reply = await login()
    expect(reply.headers['cache-control']).toBe('no-store')
    expect(reply.headers['set-cookie']).toBeUndefined()
  })

  it('gives a bearer token that public endpoints accept for 15 minutes', async () => {
    const { access_token: token } = await session(login())
    expect((await assets(token)).status).toBe(200)
    clock.advance(899)
    expect((await assets(token)).status).toBe(200)
    clock.advance(1)
    expectApiError(await assets(token), 'unauthorized', invalid)
  })

  it('starts a new session at every sign-in', async () => {
    const [one, two] = [await session(login()), await session(login())]
    expect(two.refresh_token).not.toBe(one.refresh_token)
    for (const { access_token: token } of [one, two]) expect((await assets(token)).status).toBe(200)
  })

  it('ignores the case of the e-mail address', async () => {
    expect((await login(person.email.toUpperCase())).status).toBe(200)
  })

  it.each<[string, () => string, string]>([
    ['a wrong password', () => person.email, 'wrong horse battery'],
    ['a password in another case', () => person.email, password.toUpperCase()],
    ['a password with a trailing space', () => person.email, `${password} `],
    ['an unknown address', () => 'nobody@example.com', password],
  ])('answers 401 to %s, always with the same detail', async (_what, email, given) => {
    const families = await count('refresh_token_families')
    const reply = await login(email(), given)
    expectApiError(reply, 'unauthorized', { detail: 'Invalid e-mail address or password' })
    expect(await count('refresh_token_families')).toBe(families)
  })

  it.each<[string, object, FieldEntry[]]>([
    [
      'an empty body',
      {},
      [
        { field: 'email', code: 'required' },
        { field: 'password', code: 'required' },
      ],
    ],
    ['no password', { email: 'a@example.com' }, [{ field: 'password', code: 'required' }]],
    ['an address that is none', { email: 'a', password }, [{ field: 'email', code: 'invalid_value' }]],
    [
      'a password that is a number',
      { email: 'a@example.com', password: 1 },
      [{ field: 'password', code: 'invalid_value', params: { expected_type: 'string', received_type: 'integer' } }],
    ],
    [
      'a key it does not know',
      { email: 'a@example.com', password, remember: true },
      [{ field: 'remember', code: 'unknown_field' }],
    ],
  ])('answers 400 to %s', async (_what, json, fields) => {
    expectApiError(await post('login', json), 'validation_error', { fields })
  })

  it('answers 415 to a form', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const reply = await context.app.anonymous('POST', '/api/v1/auth/login', { headers, raw: 'email=a' })
    expectApiError(reply, 'unsupported_media_type')
  })
})

describe('POST /api/v1/auth/refresh (D39)', () => {
  it('exchanges a refresh token for new tokens and the user', async () => {
    const first = await session(login())
    const reply = await renew(first.refresh_token)
    expect(reply.status).toBe(200)
    expect(reply.json).toEqual(shape({ id: person.userId, email: person.email, role: 'manager' }))
    expect(reply.json.data.refresh_token).not.toBe(first.refresh_token)
    expect((await assets(reply.json.data.access_token)).status).toBe(200)
  })

  it('answers with Cache-Control: no-store (D41)', async () => {
    const { refresh_token: token } = await session(login())
    expect((await renew(token)).headers['cache-control']).toBe('no-store')
  })

  it('answers 401 to a used token and revokes the whole family', async () => {
    const first = await session(login())
    const second = await session(renew(first.refresh_token))
    expectApiError(await renew(first.refresh_token), 'unauthorized')
    expectApiError(await renew(second.refresh_token), 'unauthorized')
    expect((await login()).status).toBe(200)
  })

  it('answers 401 to a token of 30 days', async () => {
    const { refresh_token: token } = await session(login())
    clock.advance(30 * 24 * 3600)
    expectApiError(await renew(token), 'unauthorized')
  })

  it('tells the holder of an issued token why its session ended: sign-out, password, expiry or revocation (D39)', async () => {
    const someone = await newPerson(org)
    const open = (given = password): Promise<Session> => session(login(someone.email, given))
    const [other, changed] = [await open(), await open()]
    const next = 'a wholly new password'
    const change = { current_password: password, new_password: next }
    expect((await post('password', change, other.access_token)).status).toBe(204)
    expectApiError(await renew(changed.refresh_token), 'unauthorized', { detail: 'Your password was changed' })
    const reused = await open(next)
    const current = await session(renew(reused.refresh_token))
    expectApiError(await renew(reused.refresh_token), 'unauthorized', { detail: 'The session was ended' })
    expectApiError(await renew(current.refresh_token), 'unauthorized', { detail: 'The session was ended' })
    const expired = await open(next)
    const unknown = { detail: 'The session expired or was ended' }
    expectApiError(await renew(changed.refresh_token), 'unauthorized', unknown)
    clock.advance(30 * 24 * 3600)
    expectApiError(await renew(expired.refresh_token), 'unauthorized', { detail: 'The session expired' })
    expectApiError(await renew(`${expired.refresh_token.slice(0, -4)}AAAA`), 'unauthorized', unknown)
    const again = await open(next)
    await post('logout', {}, again.access_token)
    expectApiError(await renew(again.refresh_token), 'unauthorized', { detail: 'You signed out' })
    const everywhere = await open(next)
    await post('logout-everywhere', {}, everywhere.access_token)
    expectApiError(await renew(everywhere.refresh_token), 'unauthorized', { detail: 'You signed out' })
  })

  it('answers 401 to the refresh token of an API credential, which stays valid on the token endpoint', async () => {
    const { refresh: token } = await newTokens(org)
    expectApiError(await renew(token), 'unauthorized')
    expect((await refresh(context.app, token)).status).toBe(200)
  })

  it('is the only endpoint for a session’s refresh token: the token endpoint answers 401 and leaves it valid', async () => {
    const { refresh_token: token } = await session(login())
    expectApiError(await refresh(context.app, token), 'unauthorized')
    expect((await renew(token)).status).toBe(200)
  })

  it('answers 401 to text that is not a token', async () => {
    expectApiError(await renew('guess'), 'unauthorized')
  })

  it('answers 400 to a body without the token', async () => {
    const fields = [{ field: 'refresh_token', code: 'required' }]
    expectApiError(await post('refresh', {}), 'validation_error', { fields })
  })
})

describe('POST /api/v1/auth/logout (D39)', () => {
  it('answers 204 and ends the session: its access tokens and its refresh token', async () => {
    const first = await session(login())
    const second = await session(renew(first.refresh_token))
    for (const { access_token: token } of [first, second]) expect((await assets(token)).status).toBe(200)
    const reply = await post('logout', {}, second.access_token)
    expect(reply.status).toBe(204)
    expect(reply.text).toBe('')
    for (const { access_token: token } of [first, second]) expectApiError(await assets(token), 'unauthorized', invalid)
    expectApiError(await renew(second.refresh_token), 'unauthorized')
  })

  it('does not end the user’s other sessions', async () => {
    const [here, there] = [await session(login()), await session(login())]
    await post('logout', {}, here.access_token)
    expect((await assets(there.access_token)).status).toBe(200)
    expect((await renew(there.refresh_token)).status).toBe(200)
  })

  it('answers 401 without a session and to a second call, and 403 to the token of an API credential', async () => {
    const { access_token: token } = await session(login())
    expect((await post('logout', {}, token)).status).toBe(204)
    expectApiError(await post('logout', {}, token), 'unauthorized', invalid)
    expectApiError(await post('logout', {}), 'unauthorized', { detail: 'Missing authorization header' })
    const { access } = await newTokens(org)
    expectApiError(await post('logout', {}, access), 'forbidden', { detail: 'A signed-in user is required' })
    expect((await whoAmI(context.app, access)).status).toBe(200)
  })
})

describe('POST /api/v1/auth/signup (D39)', () => {
  const draft = (email: string) => ({ email, password, organization_name: 'Fabrikam' })

  it('creates an organization with its first admin and signs that user in', async () => {
    const email = newEmail()
    const reply = await post('signup', draft(email))
    expect(reply.status).toBe(201)
    expect(reply.json).toEqual(shape({ email, role: 'admin' }))
    expect(reply.headers['cache-control']).toBe('no-store')
    const { access_token: token } = reply.json.data
    const orgId = claimsOf(token)['org'] as number
    expect((await assets(token)).json).toMatchObject({ data: [], total_count: 0 })
    const keys = await context.app.anonymous('GET', `/api/v1/orgs/${orgId}/api-keys`, { token })
    expect(keys.status).toBe(200)
    expect((await login(email)).status).toBe(200)
  })

  it('stores the password only as an argon2 hash', async () => {
    const email = newEmail()
    await post('signup', draft(email))
    const [row] = await database.sql<{ password_hash: string; whole: string }[]>`
      select password_hash, u::text as whole from users u where email = ${email}`
    expect(row!.password_hash).toMatch(/^\$argon2id\$/)
    expect(row!.whole).not.toContain(password)
  })

  it.each([
    ['as it is', (email: string) => email],
    ['in capitals', (email: string) => email.toUpperCase()],
  ])('answers 409 to an address that already has an account, written %s, and creates nothing', async (_how, write) => {
    const before = [await count('users'), await count('organizations')]
    expectApiError(await post('signup', draft(write(person.email))), 'conflict')
    expect([await count('users'), await count('organizations')]).toEqual(before)
    expect((await login()).json.data.user.role).toBe('manager')
  })

  it('accepts one of two simultaneous sign-ups with one address', async () => {
    const before = [await count('users'), await count('organizations')]
    const email = newEmail()
    const replies = await Promise.all([post('signup', draft(email)), post('signup', draft(email))])
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 409])
    expect([await count('users'), await count('organizations')]).toEqual(before.map((one) => one + 1))
  })

  it.each<[string, object, FieldEntry[]]>([
    ['an address that is none', { ...draft('a'), email: 'a b@c' }, [{ field: 'email', code: 'invalid_value' }]],
    [
      'an organization without a name',
      { email: 'a@b.c', password },
      [{ field: 'organization_name', code: 'required' }],
    ],
    [
      'an organization with an empty name',
      { ...draft('a@b.c'), organization_name: '' },
      [{ field: 'organization_name', code: 'too_short', params: { min_length: 1 } }],
    ],
    ['a role', { ...draft('a@b.c'), role: 'admin' }, [{ field: 'role', code: 'unknown_field' }]],
  ])('answers 400 to %s and creates nothing', async (_what, json, fields) => {
    const before = [await count('users'), await count('organizations')]
    expectApiError(await post('signup', json), 'validation_error', { fields })
    expect([await count('users'), await count('organizations')]).toEqual(before)
  })
})
