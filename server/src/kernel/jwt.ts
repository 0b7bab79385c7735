import { createHmac, timingSafeEqual } from 'node:crypto'

export interface Claims {
  /** The environment, so that a token of one never authenticates in another. */
  aud: string
  sub: string
  org: number
  kind: 'credential' | 'session'
  /** What the holder may do, for the client to read; the server looks up what is granted now. */
  scope: string
  iat: number
  exp: number
  jti: string
  /** The chain of refresh tokens this token came with. */
  sid: string
}

const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')

const mac = (key: Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest()

export function signJwt(key: Uint8Array, claims: Claims): string {
  const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${signed}.${mac(key, signed).toString('base64url')}`
}

/** The claims of a token this key signed, or null. The caller judges audience and expiry. */
export function verifyJwt(key: Uint8Array, token: string): Claims | null {
  const parts = token.split('.')
  const [head, payload, signature] = parts
  if (parts.length !== 3 || head !== header || payload === undefined || signature === undefined) return null
  const expected = mac(key, `${head}.${payload}`)
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
  if (expected.toString('base64url') !== signature) return null
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Claims
}
