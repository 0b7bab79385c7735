import { now } from '../kernel/clock.ts'
import { type ApiError, apiError } from '../kernel/errors.ts'
import { sameHash } from '../kernel/secrets.ts'
import type { User } from '../users/user.ts'
import { confirmEmail, findUser } from '../users/users.sql.ts'
import { type AccountDeps, linkTo } from './deps.ts'

const linkTtlSeconds = 7 * 24 * 3600
/** Confirmation mails per account and day, the one of the sign-up not included. */
const maxPerDay = 5

type LinkDeps = Pick<AccountDeps, 'tokens' | 'environment'>

/** The installation can recompute the tag of its own links, so the links are not stored. */
const tagOf = ({ tokens, environment }: LinkDeps, { userId, email }: User, expires: number): Buffer =>
  tokens.hmacTag(`confirm e-mail ${environment} ${userId} ${expires} ${email}`)

function newToken(deps: LinkDeps, user: User, expires: number): string {
  return `lsc_${user.userId.toString(36)}.${expires.toString(36)}.${tagOf(deps, user, expires).toString('base64url')}`
}

function readToken(token: string): { userId: number; expires: number; tag: Buffer } | null {
  const match = /^lsc_([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([\w-]{22})$/.exec(token)
  const [userId, expires] = [parseInt(match?.[1] ?? '', 36), parseInt(match?.[2] ?? '', 36)]
  if (!Number.isSafeInteger(userId) || !Number.isSafeInteger(expires)) return null
  return { userId, expires, tag: Buffer.from(match![3]!, 'base64url') }
}

/** Mails the user a link that confirms the address within seven days. */
export function mailConfirmation(deps: AccountDeps, user: User): void {
  const expires = Math.floor(deps.clock.millis() / 1000) + linkTtlSeconds
  const link = linkTo(deps, 'confirm-email', newToken(deps, user, expires))
  deps.mailer.send({
    to: user.email,
    subject: 'Confirm your e-mail address',
    text: `To confirm that this is your e-mail address at Lastseen, open\n\n${link}\n\nThe link works for seven days. If you did not sign up, ignore this message.\n`,
  })
}

/** Mails the link again, unless the address is already confirmed. */
export async function requestConfirmation(deps: AccountDeps, userId: number): Promise<void> {
  const user = await findUser(deps.db.read, userId)
  if (user === null || user.isEmailConfirmed || !deps.mailer.hasTransport) return
  await deps.throttle.consume('day', `confirm-email:${user.userId}`, maxPerDay)
  mailConfirmation(deps, user)
}

const invalidLink = (): ApiError =>
  apiError.invalid({ field: 'token', code: 'invalid_value', message: 'This link is invalid or has expired' })

/** Confirms the address with the token of a link. The link may be opened again. */
export async function confirmEmailAddress(
  deps: AccountDeps,
  request: { token: string; address: string },
): Promise<void> {
  const attempt = async (): Promise<User | null> => {
    const parts = readToken(request.token)
    if (parts === null || parts.expires * 1000 <= deps.clock.millis()) return null
    const user = await findUser(deps.db.read, parts.userId)
    return user !== null && sameHash(tagOf(deps, user, parts.expires), parts.tag) ? user : null
  }
  const { userId, email } = await deps.throttle.guardAccount(null, request.address, attempt, invalidLink)
  await deps.db.globalTransaction((tx) => confirmEmail(tx, userId, email, now(deps.clock)))
}

/** Throws 403 while the user has not confirmed the e-mail address, on installations that send mail. */
export async function assertEmailConfirmed(deps: Pick<AccountDeps, 'db' | 'mailer'>, userId: number): Promise<void> {
  if (!deps.mailer.hasTransport) return
  const user = await findUser(deps.db.read, userId)
  if (user?.isEmailConfirmed === false)
    throw apiError.forbidden('Confirm your e-mail address first, with the link in the message that was sent to you')
}
