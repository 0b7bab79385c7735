import type { SessionDeps } from './sessions.ts'
import { hashSecret } from '../kernel/secrets.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { SignupPolicy } from './signup-policy.ts'

export interface AccountDeps extends SessionDeps {
  post: Pick<Mailer, 'send' | 'inBackground' | 'hasTransport'>
  signups: SignupPolicy
  /** A line for whoever runs the installation. */
  tell: (line: string) => void
  /** The installation's address as people reach it. */
  siteUrl: () => string
}

/** The token stands behind the `#`, which browsers keep to themselves: no server ever logs it. */
export const linkTo = (deps: AccountDeps, page: string, token: string): string =>
  `${deps.siteUrl()}/${page}#token=${token}`

/** A link of one environment means nothing in the other, even over a copied database row (D4). */
export const hashLinkToken = (deps: Pick<AccountDeps, 'environment'>, token: string): Buffer =>
  hashSecret(`${deps.environment} ${token}`)
