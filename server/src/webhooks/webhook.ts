import type { FieldProblem } from '../kernel/errors.ts'
import { codePointLength } from '../kernel/json.ts'
import type { Instant } from '../kernel/instant.ts'

export interface Webhook {
  id: number
  url: string
  isEnabled: boolean
  encryptedSecret: Uint8Array
  /** Names the present time of delivery; null while nothing is delivered. */
  generation: number | null
  createdAt: Instant
  updatedAt: Instant
}

export const event = 'asset.moved'

export const maxUrlLength = 2048

/** A saved secret opens only for the webhook it was made for. */
export const secretContext = (orgId: number, webhookId: number): string => `${orgId}/${webhookId}`

export const maskSecret = (secret: string): string => `whsec_${'•'.repeat(8)}${secret.slice(-4)}`

/** Scheme and host are judged here, and nothing else: where the host leads is judged at every connection. */
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
  if (url.username !== '' || url.password !== '') return invalid(`${field} must not hold a user name or password`)
  return null
}
