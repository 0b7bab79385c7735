import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import {
  ManualClock,
  claimsOf,
  expectTokens,
  mintKey,
  newTokens,
  refresh,
  tokensOf,
  whoAmI,
  useSql,
} from '../../support/auth.ts'
import { expectApiError } from '../../support/error-response.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSql(context)
const days = 24 * 3600

let org: TestOrg
beforeAll(async () => {
  org = await context.app.newOrg()
})

const next = async (token: string): Promise<string> => (await expectTokens(refresh(context.app, token))).refresh

describe('Refresh rotation', () => {
  it('gives a new refresh token at every refresh, and each new token works', async () => {
    const seen = new Set<string>()
    let { refresh: token } = await newTokens(org)
    for (let turn = 0; turn < 5; turn++) {
      seen.add(token)
      token = await next(token)
    }
    expect(seen.has(token)).toBe(false)
    expect(seen.size).toBe(5)
  })

  it('gives an access token of the same credential with the scopes it was minted with', async () => {
    const key = await mintKey(org, { scopes: ['tracking:read', 'assets:read'] })
    const { refresh: token } = await tokensOf(context.app, key)
    clock.advance(100)
    const { access } = await expectTokens(refresh(context.app, token))
    expect(claimsOf(access)).toMatchObject({ sub: key.clientId, iat: clock.seconds, exp: clock.seconds + 900 })
    const me = await whoAmI(context.app, access)
    expect(me.json.data).toMatchObject({ scopes: ['tracking:read', 'assets:read'], api_key_id: key.clientId })
  })

  it('leaves the previous access token valid until it expires', async () => {
    const { access, refresh: token } = await newTokens(org)
    await next(token)
    expect((await whoAmI(context.app, access)).status).toBe(200)
  })

  it('lets an expired access token be replaced by refreshing', async () => {
    const { access, refresh: token } = await newTokens(org)
    clock.advance(900)
    expectApiError(await whoAmI(context.app, access), 'unauthorized', { detail: 'Invalid or expired token' })
    const renewed = await expectTokens(refresh(context.app, token))
    expect((await whoAmI(context.app, renewed.access)).status).toBe(200)
  })
})

describe('A used refresh token', () => {
  it('gives 401 when it is used again, and the whole family is revoked', async () => {
    const { refresh: first } = await newTokens(org)
    const second = await next(first)
    expectApiError(await refresh(context.app, first), 'unauthorized')
    expectApiError(await refresh(context.app, second), 'unauthorized')
  })

  it.each([0, 1, 3])('revokes the family however long ago it was used: number %i of five', async (index) => {
    const { refresh: first } = await newTokens(org)
    const tokens = [first]
    for (let turn = 0; turn < 4; turn++) tokens.push(await next(tokens.at(-1)!))
    expectApiError(await refresh(context.app, tokens[index]!), 'unauthorized')
    for (const token of tokens) expectApiError(await refresh(context.app, token), 'unauthorized')
  })

  it('does not revoke the credential or its other families', async () => {
    const key = await mintKey(org)
    const stolen = await tokensOf(context.app, key)
    const other = await tokensOf(context.app, key)
    await next(stolen.refresh)
    expectApiError(await refresh(context.app, stolen.refresh), 'unauthorized')
    expect((await refresh(context.app, other.refresh)).status).toBe(200)
  })

  it('requires a new client_credentials exchange, which starts a valid family', async () => {
    const key = await mintKey(org)
    const { refresh: first } = await tokensOf(context.app, key)
    await next(first)
    await refresh(context.app, first)
    const restarted = await tokensOf(context.app, key)
    expect((await whoAmI(context.app, restarted.access)).status).toBe(200)
    expect((await refresh(context.app, restarted.refresh)).status).toBe(200)
  })
})

describe('A refresh token that was never issued', () => {
  const change = (text: string, at: number): string =>
    text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1)

  it.each([1, 10, 43])(
    'is rejected when it differs from a valid token %i characters before its end',
    async (fromEnd) => {
      const { refresh: token } = await newTokens(org)
      expectApiError(await refresh(context.app, change(token, token.length - fromEnd)), 'unauthorized')
    },
  )

  it('revokes nothing: only a used token does', async () => {
    const { refresh: token } = await newTokens(org)
    expectApiError(await refresh(context.app, change(token, token.length - 10)), 'unauthorized')
    expect((await refresh(context.app, token)).status).toBe(200)
  })

  it('is rejected when it names the family of another organization', async () => {
    const other = await context.app.newOrg()
    const mine = (await newTokens(org)).refresh.split('.')
    const theirs = (await newTokens(other)).refresh.split('.')
    const mixed = [mine[0], ...theirs.slice(1)].join('.')
    expectApiError(await refresh(context.app, mixed), 'unauthorized')
  })
})

describe('The lifetime of a refresh token', () => {
  it('is 30 days: it works until the last moment', async () => {
    const { refresh: token } = await newTokens(org)
    clock.advance(30 * days - 0.001)
    expect((await refresh(context.app, token)).status).toBe(200)
  })

  it('is 30 days: it gives 401 from then on', async () => {
    const { refresh: token } = await newTokens(org)
    clock.advance(30 * days)
    expectApiError(await refresh(context.app, token), 'unauthorized')
  })

  it('starts again with every rotation', async () => {
    const { refresh: first } = await newTokens(org)
    clock.advance(29 * days)
    const second = await next(first)
    clock.advance(29 * days)
    const third = await next(second)
    clock.advance(30 * days)
    expectApiError(await refresh(context.app, third), 'unauthorized')
  })
})

describe('A refresh token in the database', () => {
  it('is stored as a SHA-256 hash only (D41)', async () => {
    const { refresh: first } = await newTokens(org)
    const second = await next(first)
    const rows = await database.sql<{ token_hash: Buffer; whole: string }[]>`
      select token_hash, c::text as whole from refresh_token_families c`
    const hashes = rows.map((row) => row.token_hash.toString('hex'))
    expect(hashes).toContain(createHash('sha256').update(second).digest('hex'))
    const secrets = [first, second].map((token) => token.slice(-43))
    for (const { whole } of rows)
      for (const secret of secrets) {
        expect(whole).not.toContain(secret)
        expect(whole).not.toContain(Buffer.from(secret).toString('hex'))
        expect(whole).not.toContain(Buffer.from(secret, 'base64url').toString('hex'))
      }
  })
})
