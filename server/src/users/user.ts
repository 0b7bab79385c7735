import type { Role } from '../kernel/scopes.ts'

export interface User {
  userId: number
  email: string
}

export interface Membership {
  orgId: number
  orgName: string
  role: Role
}

/** E-mail addresses are compared without regard to case, as every mail system in use does. */
export const foldEmail = (email: string): string => email.trim().toLowerCase()
