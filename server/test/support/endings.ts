import { setTimeout as sleep } from 'node:timers/promises'
import { deleteOrg } from '../../src/cli/organization-data.ts'
import { resetPasswordOf } from '../../src/cli/user.ts'
import { deleteUserAccount } from '../../src/cli/user-data.ts'
import { rotateSigningKey } from '../../src/auth/signing-keys.ts'
import { createSignedInUser, password, refreshSession, requestAs, signIn } from './accounts.ts'
import type { TestOrg } from './app.ts'
import { mintKey, tokensOf } from './auth.ts'
import type { Reply } from './client.ts'
import type { TestClock } from './tracking.ts'

/** An access token, and what makes it invalid. */
interface Ending {
  token: string
  end: () => Promise<unknown>
  /** Whether other tokens of the organization become invalid, too. */
  endsOthers?: true
}

type BeginEnding = (org: TestOrg, clock: TestClock) => Promise<Ending>

const scopes = ['assets:read', 'assets:write', 'tracking:read']
const dayMs = 86_400_000

/** The service reads the test's clock, and waits in real time until an expiry. */
export const remainingMs = 3000
const pass = (clock: TestClock) => async (): Promise<void> => {
  await sleep(remainingMs)
  clock.advance(remainingMs)
}

async function succeed(reply: Promise<Reply>): Promise<void> {
  const { status, text } = await reply
  if (status >= 300) throw new Error(`${status} ${text}`)
}

const asAdmin = async (org: TestOrg, method: string, path: string, json?: object): Promise<void> =>
  succeed(requestAs(org.app, await createSignedInUser(org, 'admin'), method, path, json === undefined ? {} : { json }))

/** What ends one of two sessions of a manager; the other one may go on. */
const ofSession =
  (
    endSession: (org: TestOrg, user: Awaited<ReturnType<typeof signIn>>, other: typeof user) => Promise<unknown>,
  ): BeginEnding =>
  async (org) => {
    const user = await createSignedInUser(org, 'manager')
    const other = await signIn(org.app, user.email, password)
    return { token: user.token, end: () => endSession(org, { ...user, userId: other.userId }, other) }
  }

/** What makes access tokens invalid before they expire. */
export const endings: readonly (readonly [string, BeginEnding])[] = [
  [
    'its API key is revoked',
    async (org) => {
      const key = await mintKey(org, { scopes })
      const { access: token } = await tokensOf(org.app, key)
      return { token, end: () => asAdmin(org, 'DELETE', `/orgs/${org.orgId}/api-keys/${key.id}`) }
    },
  ],
  [
    'its API key expires',
    async (org, clock) => {
      const key = await mintKey(org, { scopes, expiresAtMs: clock.millis() + 10_000 })
      const { access: token } = await tokensOf(org.app, key)
      clock.advance(10_000 - remainingMs)
      return { token, end: pass(clock) }
    },
  ],
  [
    'its session expires',
    async (org, clock) => {
      const user = await createSignedInUser(org, 'manager')
      clock.advance(30 * dayMs - 60_000)
      const { json } = await refreshSession(org.app, user)
      clock.advance(60_000 - remainingMs)
      return { token: json.data.access_token, end: pass(clock) }
    },
  ],
  ['the user signs out', ofSession((org, user) => succeed(requestAs(org.app, user, 'POST', '/auth/logout')))],
  [
    'the user signs out everywhere',
    ofSession((org, _user, other) => succeed(requestAs(org.app, other, 'POST', '/auth/logout-everywhere'))),
  ],
  [
    'a refresh token of its session is used twice',
    ofSession(async (org, user) => {
      await succeed(refreshSession(org.app, user))
      await refreshSession(org.app, user)
    }),
  ],
  [
    'the user changes the password in another session',
    ofSession((org, _user, other) => {
      const json = { current_password: password, new_password: 'another horse battery' }
      return succeed(requestAs(org.app, other, 'POST', '/auth/password', { json }))
    }),
  ],
  [
    'the operator sets another password',
    ofSession((org, { email }) => resetPasswordOf(org.app.context, { email, password: 'another horse battery' })),
  ],
  ['the member is removed', ofSession((org, { userId }) => asAdmin(org, 'DELETE', `/members/${userId}`))],
  [
    'the member gets another role',
    ofSession((org, { userId }) => asAdmin(org, 'PATCH', `/members/${userId}`, { role: 'viewer' })),
  ],
  [
    'the account is deleted',
    async (org) => {
      await createSignedInUser(org, 'admin')
      const { email, token } = await createSignedInUser(org, 'manager')
      return { token, end: () => deleteUserAccount(org.app.context, { email, confirm: email }) }
    },
  ],
  [
    'its signing key is discarded',
    async (org) => {
      const { token } = await createSignedInUser(org, 'manager')
      return { token, end: () => rotateSigningKey(org.app.context, { isPreviousDiscarded: true }), endsOthers: true }
    },
  ],
  [
    'the organization is deleted',
    async (org) => {
      const { token } = await createSignedInUser(org, 'manager')
      const options = { org: String(org.orgId), confirm: org.name }
      return { token, end: () => deleteOrg(org.app.context, options), endsOthers: true }
    },
  ],
]
