import type { SessionNeeds } from '../credentials/sessions.ts'
import { hashSecret } from '../kernel/secrets.ts'
import type { Post } from '../mail/post.ts'
import type { SignupPolicy } from './signup-policy.ts'

export interface AccountNeeds extends SessionNeeds {
  post: Pick<Post, 'send' | 'inBackground' | 'hasTransport'>
  signups: SignupPolicy
  /** A line for whoever runs the installation. */
  tell: (line: string) => void
  /** The installation's address as people reach it. */
  siteUrl: () => string
}

/** The token stands behind the `#`, which browsers keep to themselves: no server ever logs it. */
export const linkTo = (needs: AccountNeeds, page: string, token: string): string =>
  `${needs.siteUrl()}/${page}#token=${token}`

/** A link of one environment means nothing in the other, even over a copied database row (D4). */
export const hashLinkToken = (needs: Pick<AccountNeeds, 'environment'>, token: string): Buffer =>
  hashSecret(`${needs.environment} ${token}`)
