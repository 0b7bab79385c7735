import { apiError } from '../kernel/errors.ts'

export interface SignupPolicy {
  /** Who may create an account: anybody, people with an invitation, or only the operator. */
  mode: 'open' | 'invite-only' | 'closed'
  /** Sign-ups an hour from one client address. */
  maxPerHour: number
  /** Only this machine can reach the server, so the limit does not apply to clients on it. */
  isLocalOnly: boolean
}

/** Throws 403 unless anybody may create an organization. */
export function assertSignupOpen({ mode }: SignupPolicy): void {
  if (mode === 'invite-only') throw apiError.forbidden('Sign-up is by invitation only; ask an admin for an invitation')
  if (mode === 'closed') throw apiError.forbidden('Sign-up is closed; ask the operator for an account')
}

/** Throws 403 where even an invitation does not create an account. */
export function assertAccountsOpen({ mode }: SignupPolicy): void {
  if (mode === 'closed') throw apiError.forbidden('Sign-up is closed; ask the operator for an account')
}
