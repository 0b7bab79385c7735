import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const newUuid = (): string => randomUUID()

/** A credential's secret: shown once, kept only as its hash. */
export const newClientSecret = (): string => `ls_${randomBytes(32).toString('hex')}`

export const newNonce = (): Buffer => randomBytes(16)

/** The secret of a link that is sent to somebody: good once, kept only as its hash. */
export const newLinkToken = (): string => randomBytes(32).toString('base64url')

export const newPassword = (): string => randomBytes(12).toString('base64url')

/** SHA-256 suffices because every secret hashed here is 256 random bits; passwords go through argon2 instead. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret, 'utf8').digest()

export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Secrets of this service within another text: those of readers, credentials, webhooks and refresh tokens. */
export const secretPattern = /(?:ls[dr]?|whsec)(?:_|%5f)[\w.+=-]{8,}/gi

/** A reader's secret: its bearer token over HTTP and its password over MQTT. */
export const newReaderToken = (): string => `lsd_${randomBytes(24).toString('hex')}`

/** The part of a reader's MQTT topic that leads to it: known to whoever knows the token, and it gives nothing of it away. */
export const topicKeyOf = (token: string): string =>
  createHash('sha256').update(`topic ${token}`, 'utf8').digest('hex').slice(0, 32)

/** A webhook's secret: what follows the prefix is base64, as the libraries of Standard Webhooks expect it. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(36).toString('base64')}`
