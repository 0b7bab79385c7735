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
import { mailConfirmation } from './email-confirmation.ts'
import { assertSignupOpen } from './signup-policy.ts'

interface Signup {
  organizationName: string
  email: string
  password: string
  address: string
  isForwarded: boolean
}

/** Creates an organization and its first admin in one transaction. The admin must confirm the address if mail is set up. */
export async function signup(deps: AccountDeps, request: Signup): Promise<SignedIn> {
  const { signups } = deps
  assertSignupOpen(signups)
  assertNotGuessable('password', request.password, foldEmail(request.email))
  // A proxy on this machine also connects from a loopback address, but the limit applies to its clients.
  const isLocal = signups.isLocalOnly && isLoopback(request.address) && !request.isForwarded
  if (!isLocal) await deps.throttle.consume('hour', `signup:${request.address}`, signups.maxPerHour)
  const owner = await findUserByEmail(deps.db.read, foldEmail(request.email))
  if (owner !== null) {
    deps.mailer.inBackground(() => notifyOwner(deps, owner))
    throw apiError.conflict('A user with this e-mail address already exists')
  }
  const { email, password } = request
  const isEmailConfirmed = !deps.mailer.hasTransport
  const writeUser = await prepareUser(deps, { email, password, role: 'admin', isEmailConfirmed })
  const membership: Membership = { orgId: await deps.ids.next(0), orgName: request.organizationName, role: 'admin' }
  const user = await deps.db.withTenant(membership.orgId, async (tx) => {
    await insertOrganization(tx, membership.orgId, membership.orgName, now(deps.clock))
    return writeUser(tx, membership.orgId)
  })
  if (!isEmailConfirmed) mailConfirmation(deps, user)
  return openSession(deps, user, membership, [membership])
}

/** Mails the account's owner, at most once a day, that someone tried to sign up with the address. */
async function notifyOwner(deps: AccountDeps, { email }: User): Promise<void> {
  if (!deps.mailer.hasTransport || !(await deps.throttle.tryConsume('day', `signup-mail:${email}`, 1))) return
  deps.mailer.send({
    to: email,
    subject: 'You already have an account',
    text: `We received a request to sign up at Lastseen with this address, which already has an account. To sign in, open\n\n${deps.siteUrl()}/sign-in\n\nIf you did not make this request, ignore this message.\n`,
  })
}
