import type { FieldProblem } from '../kernel/errors.ts'
import { codePointLength } from '../kernel/json.ts'
import type { Instant } from '../kernel/instant.ts'

export interface Webhook {
  id: number
  url: string
  isEnabled: boolean
  encryptedSecret: Uint8Array
  /** Identifies the current period of delivery; null while delivery is off. */
  generation: number | null
  createdAt: Instant
  updatedAt: Instant
}

export const event = 'asset.moved'

export const maxUrlLength = 2048

/** Binds an encrypted secret to its webhook: it cannot be decrypted for another one. */
export const secretContext = (orgId: number, webhookId: number): string => `${orgId}/${webhookId}`

export const maskSecret = (secret: string): string => `whsec_${'•'.repeat(8)}${secret.slice(-4)}`

/** Checks the form of the URL only; the addresses of the host are checked at every connection. */
export function urlProblem(field: string, text: string): FieldProblem | null {
  const invalid = (message: string): FieldProblem => ({ field, code: 'invalid_value', message })
  if (codePointLength(text) > maxUrlLength)
    return {
      field,
      code: 'too_long',
      message: `${field} must be at most ${maxUrlLength} characters`,
      params: { max_length: maxUrlLength },
    }
  if (!/^https:\/\/[^/\\?#]/i.test(text)) return invalid(`${field} must start with https:// and name a host`)
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || url.hostname === '') return invalid(`${field} must be a valid address with a host`)
  if (url.username !== '' || url.password !== '') return invalid(`${field} must not contain a user name or password`)
  return null
}
