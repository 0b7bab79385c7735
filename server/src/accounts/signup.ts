import { type SignedIn, openSession } from './sessions.ts'
import { isLoopback } from '../kernel/ip-range.ts'
import { now } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'
import { insertOrganization } from '../organizations/organizations.sql.ts'
import { prepareUser } from '../users/commands.ts'
import { assertNotGuessable } from '../users/password-rules.ts'
import { type Membership, type User, foldEmail } from '../users/user.ts'
import { findUserByEmail } from '../users/users.sql.ts'
import type { AccountDeps } from './deps.ts'
import { assertSignupOpen } from './signup-policy.ts'

interface Signup {
  organizationName: string
  email: string
  password: string
  address: string
  isForwarded: boolean
}

/** A new organization with its first admin, both or neither. */
export async function signup(deps: AccountDeps, given: Signup): Promise<SignedIn> {
  const { signups } = deps
  assertSignupOpen(signups)
  assertNotGuessable('password', given.password, foldEmail(given.email))
  // A proxy on this machine connects from a loopback address too, and its clients are limited.
  const isLocal = signups.isLocalOnly && isLoopback(given.address) && !given.isForwarded
  if (!isLocal) await deps.throttle.consume('hour', `signup:${given.address}`, signups.maxPerHour)
  const owner = await findUserByEmail(deps.db.read, foldEmail(given.email))
  if (owner !== null) {
    deps.post.inBackground(() => tellOwner(deps, owner))
    throw apiError.conflict('A user with this e-mail address already exists')
  }
  const { email, password } = given
  const writeUser = await prepareUser(deps, { email, password, role: 'admin' })
  const membership: Membership = { orgId: await deps.ids.next(0), orgName: given.organizationName, role: 'admin' }
  const user = await deps.db.withTenant(membership.orgId, async (tx) => {
    await insertOrganization(tx, membership.orgId, membership.orgName, now(deps.clock))
    return writeUser(tx, membership.orgId)
  })
  return openSession(deps, user, membership, [membership])
}

/** Mails the owner of an address, at most once a day, that a sign-up with it was tried. */
async function tellOwner(deps: AccountDeps, { email }: User): Promise<void> {
  if (!deps.post.hasTransport || !(await deps.throttle.tryConsume('day', `signup-mail:${email}`, 1))) return
  deps.post.send({
    to: email,
    subject: 'You already have an account',
    text: `Somebody, probably you, tried to sign up at Lastseen with this address, which has an account already. To sign in, open\n\n${deps.siteUrl()}/sign-in\n\nIf it was not you, do nothing.\n`,
  })
}
