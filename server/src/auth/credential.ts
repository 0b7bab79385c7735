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

/** A new credential with its secret, which cannot be read again later. */
export interface Minted {
  credential: Credential
  clientSecret: string
}
