import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AccessTokens, type Claims } from '../../src/auth/tokens.ts'

const key = Buffer.alloc(32, 1)
const claims: Claims = {
  aud: 'production',
  sub: '0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11',
  org: 5,
  kind: 'credential',
  scope: 'assets:read',
  iat: 1_800_000_000,
  exp: 1_800_000_900,
  jti: 'j',
  sid: 's',
}
const clock = { millis: () => claims.iat * 1000 }
const open = (secret: Uint8Array, kid = 'k1'): AccessTokens => {
  const signingKeys = [{ kid, key: secret, isCurrent: true }]
  return new AccessTokens({ signingKeys, secretKey: Buffer.alloc(32), environment: 'production', clock })
}
const { kind, sub, org, scope, sid } = claims
const token = await open(key).issue({ kind, sub, org, scope, sid })
const [head, payload, signature] = token.split('.') as [string, string, string]
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const signed = (text: string): string => `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`

describe('An access token', () => {
  it('is a JWT of three parts signed with HMAC-SHA256', () => {
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'HS256', typ: 'JWT', kid: 'k1' })
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual({ ...claims, jti: expect.any(String) })
    expect(token).toBe(signed(`${head}.${payload}`))
  })

  it('is verified by the key that signed it, also a second time', async () => {
    const tokens = open(key)
    expect(await tokens.check(token)).toMatchObject({ sub, org, exp: claims.exp })
    expect(await tokens.check(token)).toMatchObject({ sub, org, exp: claims.exp })
  })

  it.each([
    ['another key', () => open(Buffer.alloc(32, 2)).issue({ kind, sub, org, scope, sid })],
    ['the name of another key', () => open(key, 'k2').issue({ kind, sub, org, scope, sid })],
    ['no name of a key', () => signed(`${encode({ alg: 'HS256', typ: 'JWT' })}.${payload}`)],
    ['no end', () => signed(`${head}.${encode({ ...claims, exp: undefined })}`)],
    ['a start that is still to come', () => signed(`${head}.${encode({ ...claims, nbf: claims.iat + 1 })}`)],
    ['a start that is no number', () => signed(`${head}.${encode({ ...claims, nbf: 'now' })}`)],
    ['no time of issue', () => signed(`${head}.${encode({ ...claims, iat: undefined })}`)],
    [
      'a time of issue more than a minute ahead',
      () => signed(`${head}.${encode({ ...claims, iat: claims.iat + 61, exp: claims.exp + 61 })}`),
    ],
    ['a time of issue that is a text', () => signed(`${head}.${encode({ ...claims, iat: String(claims.iat) })}`)],
    ['an end that is no whole number', () => signed(`${head}.${encode({ ...claims, exp: claims.exp - 0.5 })}`)],
    ['an end that is a text', () => signed(`${head}.${encode({ ...claims, exp: String(claims.exp) })}`)],
    [
      'an end later than 15 minutes after its issue',
      () => signed(`${head}.${encode({ ...claims, exp: claims.exp + 1 })}`),
    ],
    ['an end before its issue', () => signed(`${head}.${encode({ ...claims, iat: claims.exp + 30 })}`)],
    ['claims that are no object', () => signed(`${head}.${encode('claims')}`)],
    ['no signature', () => `${head}.${payload}.`],
    ['two parts', () => `${head}.${payload}`],
    ['four parts', () => `${token}.x`],
    ['the algorithm none', () => `${encode({ alg: 'none', typ: 'JWT' })}.${payload}.`],
    ['the algorithm none, signed', () => signed(`${encode({ alg: 'none', typ: 'JWT' })}.${payload}`)],
    ['another algorithm, signed', () => signed(`${encode({ alg: 'HS512', typ: 'JWT', kid: 'k1' })}.${payload}`)],
    ['other claims', () => `${head}.${encode({ ...claims, org: 6 })}.${signature}`],
    ['a padded signature', () => `${token}=`],
    [
      'a signature in plain base64',
      () => `${head}.${payload}.${Buffer.from(signature, 'base64url').toString('base64')}`,
    ],
    ['half a signature', () => `${head}.${payload}.${signature.slice(0, 20)}`],
    ['nothing', () => ''],
    ['dots', () => '..'],
  ])('is rejected with %s', async (_what, make) => {
    expect(await open(key).check(await make())).toBeNull()
  })

  it('stays valid after its key was replaced, until that key is discarded', async () => {
    const tokens = open(key)
    const old = { kid: 'k1', key, isCurrent: false }
    const current = { kid: 'k2', key: Buffer.alloc(32, 2), isCurrent: true }
    expect(await tokens.check(token)).toMatchObject({ sub })
    tokens.replaceKeys([old, current])
    expect(await tokens.check(token)).toMatchObject({ sub })
    const newer = await tokens.issue({ kind, sub, org, scope, sid })
    expect(JSON.parse(Buffer.from(newer.split('.')[0]!, 'base64url').toString())).toMatchObject({ kid: 'k2' })
    tokens.replaceKeys([current])
    expect(await tokens.check(token)).toBeNull()
    expect(await tokens.check(newer)).toMatchObject({ sub })
  })

  it('is rejected when any character is changed', async () => {
    const tokens = open(key)
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.stringMatching(/^[A-Za-z0-9_.-]$/), async (at, character) => {
        fc.pre(token[at] !== character)
        expect(await tokens.check(token.slice(0, at) + character + token.slice(at + 1))).toBeNull()
      }),
      { numRuns: 1000 },
    )
  })
})
