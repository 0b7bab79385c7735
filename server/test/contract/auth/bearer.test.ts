import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Claims } from '../../../src/auth/tokens.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import {
  ManualClock,
  type Key,
  type Tokens,
  claimsOf,
  encode,
  mintKey,
  signedToken,
  tokensOf,
  whoAmI,
} from '../../support/auth.ts'
import { expectApiError } from '../../support/error-response.ts'
import { allRoutes, routePath } from '../../support/all-routes.ts'

const clock = new ManualClock()
const context = useApp({ clock })

let org: TestOrg
let key: Key
let tokens: Tokens
beforeAll(async () => {
  org = await context.app.newOrg()
  key = await mintKey(org)
  tokens = await tokensOf(context.app, key)
})

const invalid = { detail: 'Invalid or expired token' }
const wrongPlace = { detail: 'Use Authorization: Bearer <token>' }
const missing = { detail: 'Missing authorization header' }

const send = (headers: Record<string, string>, query = '', base = '/api/v1') =>
  context.app.anonymous('GET', `${base}/assets`, { headers, ...(query === '' ? {} : { query }) })
const bases = ['/api/v1', '/natural/api/v1']

const guarded = allRoutes
  .filter((route) => route.access !== 'public')
  .map((route) => [route.method, routePath(route)] as const)

describe('The Authorization header', () => {
  it('carries the token as Bearer and authenticates the request', async () => {
    expect((await send({ authorization: `Bearer ${tokens.access}` })).status).toBe(200)
  })

  it.each(guarded)('is required on %s %s: without it the response is 401 with the challenge', async (method, path) => {
    expectApiError(await context.app.anonymous(method, path), 'unauthorized', { ...missing, instance: path })
  })

  it.each(guarded)(
    'is checked on %s %s: with an invalid token the response is 401 with the challenge',
    async (method, path) => {
      const reply = await context.app.anonymous(method, path, { token: 'bad' })
      expectApiError(reply, 'unauthorized', { ...invalid, instance: path })
    },
  )

  it.each<[string, () => string]>([
    ['Basic authentication', () => `Basic ${Buffer.from(`${key.clientId}:${key.clientSecret}`).toString('base64')}`],
    ['the scheme Token', () => `Token ${tokens.access}`],
    ['the scheme JWT', () => `JWT ${tokens.access}`],
    ['the token without a scheme', () => tokens.access],
    ['the scheme glued to the token', () => `Bearer${tokens.access}`],
    ['a colon behind the scheme', () => `Bearer: ${tokens.access}`],
  ])('gives 401 for %s on either base', async (_what, authorization) => {
    for (const base of bases)
      expectApiError(await send({ authorization: authorization() }, '', base), 'unauthorized', wrongPlace)
  })

  it.each(bases)('is the only one honored on %s: a token in X-API-Key gives 401', async (base) => {
    expectApiError(await send({ 'x-api-key': tokens.access }, '', base), 'unauthorized', wrongPlace)
    expectApiError(await send({ 'x-api-key': `Bearer ${tokens.access}` }, '', base), 'unauthorized', wrongPlace)
  })

  it.each(['x-auth-token', 'x-access-token', 'proxy-authorization', 'x-authorization', 'cookie', 'api-key'])(
    'is the only one honored: a token in %s gives 401',
    async (name) => {
      const value = name === 'cookie' ? `access_token=${tokens.access}` : `Bearer ${tokens.access}`
      expectApiError(await send({ [name]: value }), 'unauthorized')
    },
  )

  it.each(['access_token', 'token', 'api_key'])('has no substitute in the query: %s gives 401', async (name) => {
    expectApiError(await send({}, `${name}=${tokens.access}`), 'unauthorized', missing)
  })

  it('is used when both it and X-API-Key are sent', async () => {
    const authorization = `Bearer ${tokens.access}`
    expect((await send({ authorization, 'x-api-key': 'anything' })).status).toBe(200)
    expectApiError(await send({ authorization: 'Bearer bad', 'x-api-key': tokens.access }), 'unauthorized', invalid)
  })
})

describe('A malformed bearer', () => {
  it.each<[string, () => string]>([
    ['nothing behind the scheme', () => 'Bearer'],
    ['a word', () => 'Bearer token'],
    ['three dots', () => 'Bearer ...'],
    ['two tokens', () => `Bearer ${tokens.access} ${tokens.access}`],
    ['a truncated token', () => `Bearer ${tokens.access.slice(0, -1)}`],
    ['a token with a letter too many', () => `Bearer ${tokens.access}A`],
    ['a token with a fourth part', () => `Bearer ${tokens.access}.e30`],
    ['a token padded as plain base64', () => `Bearer ${tokens.access}=`],
    ['a token in quotes', () => `Bearer "${tokens.access}"`],
    ['the client secret', () => `Bearer ${key.clientSecret}`],
    ['the client id', () => `Bearer ${key.clientId}`],
    ['the refresh token', () => `Bearer ${tokens.refresh}`],
  ])('gives 401: %s', async (_what, authorization) => {
    expectApiError(await send({ authorization: authorization() }), 'unauthorized', invalid)
  })
})

describe('A forged token', () => {
  const parts = () => tokens.access.split('.') as [string, string, string]
  const hs256 = (signed: string, secret: string | Uint8Array) =>
    `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
  const headed = (header: object) => `${encode(header)}.${parts()[1]}`

  function flipped(text: string, at: number): string {
    const bytes = Buffer.from(text, 'base64url')
    bytes[at]! ^= 1
    return bytes.toString('base64url')
  }

  it.each<[string, () => string]>([
    ['one bit of the first byte of the signature', () => [...parts().slice(0, 2), flipped(parts()[2], 0)].join('.')],
    ['one bit of the last byte of the signature', () => [...parts().slice(0, 2), flipped(parts()[2], 31)].join('.')],
    ['an empty signature', () => `${parts()[0]}.${parts()[1]}.`],
    [
      'a claim changed under the old signature',
      () => {
        const [header, , signature] = parts()
        return `${header}.${encode({ ...claimsOf(tokens.access), exp: clock.seconds + 9_000_000 })}.${signature}`
      },
    ],
    ['the algorithm none and no signature', () => `${headed({ alg: 'none', typ: 'JWT' })}.`],
    ['the algorithm none and the old signature', () => `${headed({ alg: 'none', typ: 'JWT' })}.${parts()[2]}`],
    ['the algorithm nOnE', () => `${headed({ alg: 'nOnE', typ: 'JWT' })}.`],
    ['another key', () => hs256(`${parts()[0]}.${parts()[1]}`, 'another key')],
    ['an empty key', () => hs256(`${parts()[0]}.${parts()[1]}`, '')],
    ['the client secret as the key', () => hs256(`${parts()[0]}.${parts()[1]}`, key.clientSecret)],
    [
      'an algorithm that does not match, under the right key',
      () => hs256(headed({ alg: 'none', typ: 'JWT' }), context.app.context.keys.signingKeys[0]!.key),
    ],
  ])('gives 401: %s', async (_what, token) => {
    expectApiError(await send({ authorization: `Bearer ${token()}` }), 'unauthorized', invalid)
  })

  const genuine = () => claimsOf(tokens.access) as unknown as Claims
  const sign = (claims: Partial<Claims>) => signedToken(context.app.context.keys, { ...genuine(), ...claims })

  it('cannot be made by signing with another key', async () => {
    expect((await whoAmI(context.app, sign({ jti: 'anew' }))).status).toBe(200)
  })

  it.each<[string, () => Partial<Claims>]>([
    ['an unknown credential', () => ({ sub: '00000000-0000-4000-8000-000000000000' })],
    ['another audience', () => ({ aud: 'somewhere else' })],
    ['a session that does not exist', () => ({ kind: 'session', sub: '1' })],
    ['an end in the past', () => ({ exp: clock.seconds })],
  ])('gives 401 even when its signature is valid: %s', async (_what, claims) => {
    expectApiError(await whoAmI(context.app, sign(claims())), 'unauthorized', invalid)
  })
})

describe('An access token', () => {
  it('works for 15 minutes and gives 401 from then on, on either base', async () => {
    const { access } = await tokensOf(context.app, key)
    clock.advance(899.999)
    expect((await whoAmI(context.app, access)).status).toBe(200)
    clock.advance(0.001)
    expectApiError(await whoAmI(context.app, access), 'unauthorized', invalid)
    const reply = await send({ authorization: `Bearer ${access}` }, '', '/natural/api/v1')
    expectApiError(reply, 'unauthorized', invalid)
    clock.advance(3600)
    expectApiError(await whoAmI(context.app, access), 'unauthorized', invalid)
  })
})

describe('Authentication among the checks (D6)', () => {
  it.each([
    ['a media type it does not take', { headers: { 'content-type': 'text/plain' }, raw: 'x' }],
    ['a body that is not JSON', { headers: { 'content-type': 'application/json' }, raw: '{' }],
    ['a parameter it does not know', { query: 'colour=red', json: {} }],
    ['a body that fails validation', { json: { colour: 'red' } }],
  ])('comes before %s', async (_what, options) => {
    expectApiError(await context.app.anonymous('POST', '/api/v1/assets', options), 'unauthorized', missing)
  })

  it('comes before an id out of range', async () => {
    expectApiError(await context.app.anonymous('GET', '/api/v1/assets/0'), 'unauthorized', missing)
  })

  it.each(['/api/v1/nothing', '/api/v1/assets/', '/api/v1', '/api/v2/assets'])(
    'comes after the path: %s is 404 without a token',
    async (path) => {
      expectApiError(await context.app.anonymous('GET', path), 'not_found', { instance: path })
    },
  )

  it('comes after the method: PUT is 405 without a token', async () => {
    expectApiError(await context.app.anonymous('PUT', '/api/v1/assets'), 'method_not_allowed')
  })

  it('comes after the preflight: OPTIONS is 204 without a token', async () => {
    const reply = await context.app.anonymous('OPTIONS', '/api/v1/assets')
    expect(reply.status).toBe(204)
    expect(reply.headers['www-authenticate']).toBeUndefined()
  })
})
