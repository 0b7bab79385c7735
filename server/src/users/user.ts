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

/** E-mail addresses are compared case-insensitively, like all mail systems in use do. */
export const foldEmail = (email: string): string => email.trim().toLowerCase()
