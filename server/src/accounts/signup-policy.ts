import { apiError } from '../kernel/errors.ts'

export interface SignupPolicy {
  /** Who may create an account: everyone, users with an invitation, or only the operator. */
  mode: 'open' | 'invite-only' | 'closed'
  /** Sign-ups per client address and hour. */
  maxPerHour: number
  /** The server listens only on this machine, without a trusted proxy. Clients on this machine are exempt from the limit. */
  isLocalOnly: boolean
}

/** Throws 403 unless sign-up is open to everyone. */
export function assertSignupOpen({ mode }: SignupPolicy): void {
  if (mode === 'invite-only') throw apiError.forbidden('Sign-up is by invitation only; ask an admin for an invitation')
  if (mode === 'closed') throw apiError.forbidden('Sign-up is closed; ask the operator for an account')
}

/** Throws 403 if not even an invitation allows a new account. */
export function assertAccountsOpen({ mode }: SignupPolicy): void {
  if (mode === 'closed') throw apiError.forbidden('Sign-up is closed; ask the operator for an account')
}
