/** The authenticated caller: an API credential or a user signed in to the web app. */
export interface Principal {
  readonly kind: 'credential' | 'session'
  readonly orgId: number
  /** The client id of a credential, the user id of a session. */
  readonly subject: string
  readonly sessionId: string
  /** The key that signed the access token. */
  readonly kid: string
  readonly namedScopes: readonly string[]
  readonly scopes: ReadonlySet<string>
  /** Expiry of the access token or of its credential, whichever is earlier, in epoch milliseconds. */
  readonly expiresAtMs: number
  /** Expiry of the credential or session alone. */
  readonly credentialExpiresAtMs: number
}

/** A request that waited longer than this for its body and its slot is authenticated again before it is executed. */
export const maxAuthenticationAgeMs = 10

export interface Authenticator {
  /** Returns null for an invalid token and for one whose credential or user was disabled. */
  authenticate(token: string): Promise<Principal | null>
}

/** A download or upload in progress. */
export interface Transfer {
  readonly principal: Principal
  /** Closes its connection. */
  readonly end: () => void
  /** Aborted when it is over. */
  readonly closed: AbortSignal
}

export const anonymous: Principal = {
  kind: 'session',
  orgId: 0,
  subject: '',
  sessionId: '',
  kid: '',
  namedScopes: [],
  scopes: new Set(),
  expiresAtMs: Infinity,
  credentialExpiresAtMs: Infinity,
}
