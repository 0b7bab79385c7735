import type { Instant } from '../kernel/instant.ts'

export interface CredentialDraft {
  name: string
  scopes: readonly string[]
  expiresAt: Instant | null
  createdBy: number | null
}

export interface Credential extends CredentialDraft {
  id: number
  clientId: string
  createdAt: Instant
  revokedAt: Instant | null
  lastUsedAt: Instant | null
}

/** A credential just made: the only moment its secret is known. */
export interface Minted {
  credential: Credential
  clientSecret: string
}
