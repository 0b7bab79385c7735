import { apiError } from '../kernel/errors.ts'
import type { IncomingMessage } from 'node:http'

/** Returns the token of `Authorization: Bearer <token>`. Tokens in any other header are rejected. */
export function bearerToken(request: IncomingMessage): string {
  const header = request.headers.authorization
  if (header === undefined) {
    if (request.headers['x-api-key'] !== undefined) throw apiError.unauthorized('Use Authorization: Bearer <token>')
    throw apiError.unauthorized('Missing authorization header')
  }
  const match = /^bearer(?: +(.*))?$/i.exec(header.trim())
  if (match === null) throw apiError.unauthorized('Use Authorization: Bearer <token>')
  const token = match[1]?.trim() ?? ''
  if (token === '' || token.includes(' ')) throw apiError.unauthorized('Invalid or expired token')
  return token
}
