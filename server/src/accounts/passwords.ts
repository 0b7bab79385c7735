import { endSessions } from './sessions.ts'
import { now } from '../kernel/clock.ts'
import { type ApiError, apiError } from '../kernel/errors.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import { newLinkToken } from '../kernel/secrets.ts'
import { assertNotGuessable } from '../users/password-rules.ts'
import { hashPassword, verifyPassword } from '../users/password.ts'
import { deleteResetsOf, findReset, insertReset, takeReset } from '../users/resets.sql.ts'
import { foldEmail } from '../users/user.ts'
import { confirmEmail, findUser, findUserByEmail, setPasswordHash } from '../users/users.sql.ts'
import { type AccountDeps, hashLinkToken, linkTo } from './deps.ts'

const resetTtlMs = 3_600_000
const firstPasswordTtlMs = 24 * 3_600_000
/** The minimum time between two reset mails to one account. */
const minResetIntervalMs = 60_000
/** Reset mails per account and day. After that there is one in an hour, so that nobody can keep the owner from a reset. */
const resetMailsPerDay = 10
/** Reset requests per client address, for one account and for all accounts. */
const resetsPerMinute = 20
const resetsPerMinuteOfAddress = 300

const invalidField = (field: string, message: string) => (): ApiError =>
  apiError.invalid({ field, code: 'invalid_value', message })

export interface PasswordChange {
  userId: number
  sessionId: string
  address: string
  current: string
  next: string
}

type OperatorDeps = Pick<AccountDeps, 'db' | 'clock' | 'pubsub'>

/** Sets a password on behalf of the operator. Ends every session of the user and invalidates reset links. */
export async function setPassword(deps: OperatorDeps, userId: number, password: string): Promise<void> {
  const hash = await hashPassword(password)
  await changeAndEndSessions(deps, userId, null, () => writePassword(deps, userId, hash))
}

const writePassword = (deps: OperatorDeps, userId: number, hash: string): Promise<boolean> =>
  deps.db.globalTransaction(async (tx) => {
    await setPasswordHash(tx, userId, hash)
    await deleteResetsOf(tx, userId)
    return true
  })

/** Keeps the current session and ends every other session of the user. */
export async function changePassword(deps: AccountDeps, change: PasswordChange): Promise<void> {
  const { userId, sessionId } = change
  const user = await findUser(deps.db.read, userId)
  if (user === null) throw apiError.unauthorized('Invalid or expired token')
  assertNotGuessable('new_password', change.next, user.email)
  const attempt = async (): Promise<true | null> => {
    const account = await findUserByEmail(deps.db.read, user.email)
    return (await verifyPassword(account?.passwordHash ?? null, change.current)) || null
  }
  const wrongPassword = invalidField('current_password', 'current_password is not your password')
  await deps.throttle.guardAccount(user.email, change.address, attempt, wrongPassword)
  const hash = await hashPassword(change.next)
  await changeAndEndSessions(deps, userId, sessionId, () => writePassword(deps, userId, hash))
}

/**
 * Ends the user's sessions before the change, so that none survives it if the process crashes in between, and again after
 * it, for sessions that were opened meanwhile.
 */
async function changeAndEndSessions(
  deps: OperatorDeps,
  userId: number,
  keptSessionId: string | null,
  change: () => Promise<boolean>,
): Promise<boolean> {
  await endSessions(deps, userId, 'password_changed', keptSessionId)
  const isChanged = await change()
  await endSessions(deps, userId, 'password_changed', keptSessionId)
  return isChanged
}

type LinkDeps = Pick<AccountDeps, 'db' | 'clock' | 'environment' | 'siteUrl'>

/** Returns a link with which the user chooses the first password. It works once, within a day. */
export async function createFirstPasswordLink(deps: LinkDeps, userId: number): Promise<string> {
  const token = newLinkToken()
  const millis = deps.clock.millis()
  const createdAt = instantFromMillis(millis)
  const expiresAt = instantFromMillis(millis + firstPasswordTtlMs)
  await deps.db.globalTransaction((tx) =>
    insertReset(tx, { tokenHash: hashLinkToken(deps, token), userId, createdAt, expiresAt }, createdAt),
  )
  return linkTo(deps, 'reset-password', token)
}

/** The response and its timing are the same whether or not the address has an account. */
export async function requestPasswordReset(
  deps: AccountDeps,
  request: { email: string; address: string },
): Promise<void> {
  const email = foldEmail(request.email)
  // The address comes first: once it has reached its limit, it adds no rows for further accounts.
  await deps.throttle.consume('minute', `reset-from:${request.address}`, resetsPerMinuteOfAddress)
  // Reset mails are counted per account and client address, so that another client cannot exhaust the limit of the
  // account's owner.
  await deps.throttle.consume('minute', `reset:${email} ${request.address}`, resetsPerMinute)
  deps.mailer.inBackground(() => sendReset(deps, email))
}

async function sendReset(deps: AccountDeps, email: string): Promise<void> {
  const user = await findUserByEmail(deps.db.read, email)
  if (user === null) return
  const token = newLinkToken()
  const millis = deps.clock.millis()
  const [createdAt, expiresAt] = [instantFromMillis(millis), instantFromMillis(millis + resetTtlMs)]
  const reset = { tokenHash: hashLinkToken(deps, token), userId: user.userId, createdAt, expiresAt }
  if (
    !(await deps.db.globalTransaction((tx) => insertReset(tx, reset, instantFromMillis(millis - minResetIntervalMs))))
  )
    return
  const mayMail =
    (await deps.throttle.tryConsume('day', `reset-mail:${email}`, resetMailsPerDay)) ||
    (await deps.throttle.tryConsume('hour', `reset-mail:${email}`, 1))
  if (!mayMail) return
  const link = linkTo(deps, 'reset-password', token)
  if (!deps.mailer.hasTransport) return deps.notifyOperator(`Password reset for ${user.email}: ${link}`)
  deps.mailer.send({
    to: user.email,
    subject: 'Reset your password',
    text: `We received a request to reset your Lastseen password. To choose a new one, open\n\n${link}\n\nThe link works once, within an hour. If you did not make this request, ignore this message.\n`,
  })
}

/**
 * Sets a new password with the token of a reset link, which works once and confirms the e-mail address. Ends every session of
 * the user.
 */
export async function confirmPasswordReset(
  deps: AccountDeps,
  request: { token: string; password: string; address: string },
): Promise<void> {
  const tokenHash = hashLinkToken(deps, request.token)
  const attempt = async (): Promise<true | null> => {
    const userId = await findReset(deps.db.global, tokenHash, now(deps.clock))
    const user = userId === null ? null : await findUser(deps.db.read, userId)
    if (userId === null || user === null) return null
    assertNotGuessable('new_password', request.password, user.email)
    const hash = await hashPassword(request.password)
    const write = (): Promise<boolean> =>
      deps.db.globalTransaction(async (tx) => {
        if (!(await takeReset(tx, tokenHash))) return false
        await setPasswordHash(tx, userId, hash)
        await deleteResetsOf(tx, userId)
        await confirmEmail(tx, userId, user.email, now(deps.clock))
        return true
      })
    return (await changeAndEndSessions(deps, userId, null, write)) || null
  }
  const invalidLink = invalidField('token', 'This link was used or has expired')
  await deps.throttle.guardAccount(null, request.address, attempt, invalidLink)
}
