import { endSessions } from './sessions.ts'
import { now } from '../kernel/clock.ts'
import { type ApiError, apiError } from '../kernel/errors.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import { newLinkToken } from '../kernel/secrets.ts'
import { assertNotGuessable } from '../users/password-rules.ts'
import { hashPassword, verifyPassword } from '../users/password.ts'
import { deleteResetsOf, findReset, insertReset, takeReset } from '../users/resets.sql.ts'
import { foldEmail } from '../users/user.ts'
import { findUser, findUserByEmail, setPasswordHash } from '../users/users.sql.ts'
import { type AccountDeps, hashLinkToken, linkTo } from './deps.ts'

const resetTtlMs = 3_600_000
/** An account gets one mail in this time, however often it is asked for. */
const pauseMs = 60_000
/** Requests for a link for one account from one client address, and for all accounts from it. */
const resetsPerMinute = 20
const resetsPerMinuteOfAddress = 300

const wrong = (field: string, message: string) => (): ApiError =>
  apiError.invalid({ field, code: 'invalid_value', message })

export interface PasswordChange {
  userId: number
  sessionId: string
  address: string
  current: string
  next: string
}

type OperatorDeps = Pick<AccountDeps, 'db' | 'clock' | 'pubsub'>

/** Set by the operator: every session of the person ends, and so do the links to reset the password. */
export async function setPassword(deps: OperatorDeps, userId: number, password: string): Promise<void> {
  const hash = await hashPassword(password)
  await betweenSessions(deps, userId, null, () => writePassword(deps, userId, hash))
}

const writePassword = (deps: OperatorDeps, userId: number, hash: string): Promise<boolean> =>
  deps.db.globalTransaction(async (tx) => {
    await setPasswordHash(tx, userId, hash)
    await deleteResetsOf(tx, userId)
    return true
  })

/** The session at hand goes on; every other one of the person ends. */
export async function changePassword(deps: AccountDeps, given: PasswordChange): Promise<void> {
  const { userId, sessionId } = given
  const user = await findUser(deps.db.read, userId)
  if (user === null) throw apiError.unauthorized('Invalid or expired token')
  assertNotGuessable('new_password', given.next, user.email)
  const attempt = async (): Promise<true | null> => {
    const found = await findUserByEmail(deps.db.read, user.email)
    return (await verifyPassword(found?.passwordHash ?? null, given.current)) || null
  }
  const refusal = wrong('current_password', 'current_password is not your password')
  await deps.throttle.guardAccount(user.email, given.address, attempt, refusal)
  const hash = await hashPassword(given.next)
  await betweenSessions(deps, userId, sessionId, () => writePassword(deps, userId, hash))
}

/**
 * Sessions end before the change, so that none outlives it should the process die in between, and once more after it,
 * for those begun meanwhile.
 */
async function betweenSessions(
  deps: OperatorDeps,
  userId: number,
  except: string | null,
  change: () => Promise<boolean>,
): Promise<boolean> {
  await endSessions(deps, userId, except)
  const isChanged = await change()
  await endSessions(deps, userId, except)
  return isChanged
}

/** Answers the same, and as fast, whether or not the address has an account. */
export async function requestPasswordReset(
  deps: AccountDeps,
  given: { email: string; address: string },
): Promise<void> {
  const email = foldEmail(given.email)
  // By pair, so that nobody keeps the owner of an account from asking.
  await deps.throttle.consume('minute', `reset:${email} ${given.address}`, resetsPerMinute)
  await deps.throttle.consume('minute', `reset-from:${given.address}`, resetsPerMinuteOfAddress)
  deps.post.inBackground(() => sendReset(deps, email))
}

async function sendReset(deps: AccountDeps, email: string): Promise<void> {
  const user = await findUserByEmail(deps.db.read, email)
  if (user === null) return
  const token = newLinkToken()
  const millis = deps.clock.millis()
  const [createdAt, expiresAt] = [instantFromMillis(millis), instantFromMillis(millis + resetTtlMs)]
  const reset = { tokenHash: hashLinkToken(deps, token), userId: user.userId, createdAt, expiresAt }
  if (!(await deps.db.globalTransaction((tx) => insertReset(tx, reset, instantFromMillis(millis - pauseMs))))) return
  const link = linkTo(deps, 'reset-password', token)
  if (!deps.post.hasTransport) return deps.tell(`Password reset for ${user.email}: ${link}`)
  deps.post.send({
    to: user.email,
    subject: 'Reset your password',
    text: `Somebody, probably you, asked to reset your password at Lastseen. To choose a new one, open\n\n${link}\n\nThe link works once, within an hour. If it was not you, do nothing.\n`,
  })
}

/** Single use; every session of the person ends. */
export async function confirmPasswordReset(
  deps: AccountDeps,
  given: { token: string; password: string; address: string },
): Promise<void> {
  const tokenHash = hashLinkToken(deps, given.token)
  const attempt = async (): Promise<true | null> => {
    const userId = await findReset(deps.db.global, tokenHash, now(deps.clock))
    if (userId === null) return null
    assertNotGuessable('new_password', given.password, (await findUser(deps.db.read, userId))?.email ?? '')
    const hash = await hashPassword(given.password)
    const write = (): Promise<boolean> =>
      deps.db.globalTransaction(async (tx) => {
        if (!(await takeReset(tx, tokenHash))) return false
        await setPasswordHash(tx, userId, hash)
        await deleteResetsOf(tx, userId)
        return true
      })
    return (await betweenSessions(deps, userId, null, write)) || null
  }
  await deps.throttle.guardAccount(null, given.address, attempt, wrong('token', 'This link was used or has expired'))
}
