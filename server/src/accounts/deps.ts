import type { SessionDeps } from './sessions.ts'
import { hashSecret } from '../kernel/secrets.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { SignupPolicy } from './signup-policy.ts'

export interface AccountDeps extends SessionDeps {
  mailer: Pick<Mailer, 'send' | 'inBackground' | 'hasTransport'>
  signups: SignupPolicy
  /** Prints a line for the operator of the installation. */
  notifyOperator: (line: string) => void
  /** The public URL of the installation. */
  siteUrl: () => string
}

/** The token is in the URL fragment, which browsers do not send, so no server logs it. */
export const linkTo = (deps: Pick<AccountDeps, 'siteUrl'>, page: string, token: string): string =>
  `${deps.siteUrl()}/${page}#token=${token}`

/** The hash includes the environment, so that a link is invalid in any other, even if the database was copied (D4). */
export const hashLinkToken = (deps: Pick<AccountDeps, 'environment'>, token: string): Buffer =>
  hashSecret(`${deps.environment} ${token}`)
