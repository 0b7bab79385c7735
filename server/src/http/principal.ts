/** Who is asking: an API credential or a person signed in to the web app. */
export interface Principal {
  readonly kind: 'credential' | 'session'
  readonly orgId: number
  /** The client id of a credential, the user id of a session. */
  readonly subject: string
  readonly sessionId: string
  readonly namedScopes: readonly string[]
  readonly scopes: ReadonlySet<string>
  /** When the access token ends, or its credential where that is earlier, in epoch milliseconds. */
  readonly expiresAtMs: number
}

export interface Authenticator {
  /** Null for a token that is not valid, or whose holder may not sign in any more. */
  authenticate(token: string): Promise<Principal | null>
}

export const anonymous: Principal = {
  kind: 'session',
  orgId: 0,
  subject: '',
  sessionId: '',
  namedScopes: [],
  scopes: new Set(),
  expiresAtMs: Infinity,
}
