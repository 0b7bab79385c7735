import type { Role } from '../kernel/scopes.ts'

export interface User {
  userId: number
  email: string
  /** The user opened a link that was mailed to the address, or the operator vouched for it. */
  isEmailConfirmed: boolean
}

export interface Membership {
  orgId: number
  orgName: string
  role: Role
}

/** E-mail addresses are compared case-insensitively, like all mail systems in use do. */
export const foldEmail = (email: string): string => email.trim().toLowerCase()
