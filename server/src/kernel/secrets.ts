import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const newUuid = (): string => randomUUID()

/** The secret of a credential. It is shown once and stored only as a hash. */
export const newClientSecret = (): string => `ls_${randomBytes(32).toString('hex')}`

export const newNonce = (): Buffer => randomBytes(16)

/** The secret of an invitation or password reset link. It works once and is stored only as a hash. */
export const newLinkToken = (): string => randomBytes(32).toString('base64url')

export const newPassword = (): string => randomBytes(12).toString('base64url')

/** SHA-256 is sufficient, because the secrets are long and random; passwords are hashed with argon2 instead. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret, 'utf8').digest()

export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Matches the secrets of readers, credentials and webhooks, and refresh tokens, within a path. Text must be about as long, so
 * that a natural key such as `TOOLS_DRILL-0001` is not taken for a secret.
 */
export const secretPattern = new RegExp(
  [
    'lsd?(?:_|%5f)[0-9a-f]{40,}',
    'lsr(?:_|%5f)[0-9a-z]{1,11}\\.[0-9a-f-]{36}\\.[\\w-]+',
    'whsec(?:_|%5f)(?:[\\w+/=-]|%2[bf]|%3d){32,}',
  ].join('|'),
  'gi',
)

/** The secret of a reader: its bearer token over HTTP and its password over MQTT. */
export const newReaderToken = (): string => `lsd_${randomBytes(24).toString('hex')}`

export const readerTokenPattern = /^lsd_[0-9a-f]{48}$/

/** The part of a reader's MQTT topic that identifies it. It is derived from the token, but does not reveal the token. */
export const topicKeyOf = (token: string): string =>
  createHash('sha256').update(`topic ${token}`, 'utf8').digest('hex').slice(0, 32)

/** The secret of a webhook: base64 after the prefix, as the libraries of Standard Webhooks expect. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(36).toString('base64')}`
