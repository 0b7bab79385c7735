import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Claims } from '../../../src/auth/tokens.ts'
import { type TestApp, TestOrg, startApp, useApp } from '../../support/app.ts'
import {
  type Key,
  type Tokens,
  claimsOf,
  exchange,
  mintKey,
  refresh,
  signedToken,
  tokensOf,
  useSql,
  whoAmI,
} from '../../support/auth.ts'
import { expectApiError } from '../../support/error-response.ts'

const context = useApp({ settings: { LASTSEEN_ENVIRONMENT: 'production' } })
const database = useSql(context)

let preview: TestApp
let org: TestOrg
beforeAll(async () => {
  preview = await startApp({ sharesDatabaseWith: context.app, settings: { LASTSEEN_ENVIRONMENT: 'preview' } })
  org = await context.app.newOrg()
})
afterAll(() => preview.stop())

const home = (name: string): TestApp => (name === 'production' ? context.app : preview)
const away = (name: string): TestApp => (name === 'production' ? preview : context.app)
const orgIn = (app: TestApp): TestOrg => new TestOrg(app, org.orgId, org.name)

describe.each(['production', 'preview'])('Over one database and one signing key, %s (D4)', (name) => {
  let key: Key
  let tokens: Tokens
  beforeAll(async () => {
    key = await mintKey(orgIn(home(name)))
    tokens = await tokensOf(home(name), key)
  })

  it('is part of the audience of its tokens', () => {
    expect([claimsOf(tokens.access)['aud']].flat().join(' ')).toContain(name)
  })

  it('accepts its own access tokens, and the other environment does not', async () => {
    expect((await whoAmI(home(name), tokens.access)).status).toBe(200)
    const reply = await whoAmI(away(name), tokens.access)
    expectApiError(reply, 'unauthorized', { detail: 'Invalid or expired token' })
  })

  it('exchanges its own credentials, and the other environment does not', async () => {
    expectApiError(await exchange(away(name), key), 'unauthorized', { detail: 'Invalid client credentials' })
    expect((await exchange(home(name), key)).status).toBe(200)
  })

  it('accepts its own refresh tokens, and the other environment rejects them and leaves them valid', async () => {
    const { refresh: token } = await tokensOf(home(name), key)
    expectApiError(await refresh(away(name), token), 'unauthorized')
    expect((await refresh(home(name), token)).status).toBe(200)
  })

  it('accepts its own sessions, and the other environment does not', async () => {
    const { accessToken, refreshToken } = await orgIn(home(name)).signIn('viewer')
    const read = (app: TestApp) => app.anonymous('GET', '/api/v1/assets', { token: accessToken })
    const renew = (app: TestApp) =>
      app.anonymous('POST', '/api/v1/auth/refresh', { json: { refresh_token: refreshToken } })
    expectApiError(await read(away(name)), 'unauthorized')
    expect((await read(home(name))).status).toBe(200)
    expectApiError(await renew(away(name)), 'unauthorized')
    expect((await renew(home(name))).status).toBe(200)
  })

  it('rejects a credential of the other even under a token with its own audience', async () => {
    const claims = claimsOf(tokens.access) as unknown as Claims
    const foreign = claimsOf((await tokensOf(away(name), await mintKey(orgIn(away(name))))).access)
    const token = signedToken(away(name).context.keys, { ...claims, aud: foreign['aud'] as string })
    expectApiError(await whoAmI(away(name), token), 'unauthorized')
  })
})

describe('A row copied into the database of another environment (D4)', () => {
  let other: TestApp
  beforeAll(async () => {
    other = await startApp({ settings: { LASTSEEN_ENVIRONMENT: 'preview' } })
  })
  afterAll(() => other.stop())

  it('does not authenticate with its credential or its tokens', async () => {
    const key = await mintKey(org)
    const tokens = await tokensOf(context.app, key)
    const copy = postgres(other.databaseUrl, { max: 1, onnotice: () => undefined })
    const { orgId } = org
    for (const table of [
      'organizations',
      'organization_names',
      'client_ids',
      'credentials',
      'refresh_token_families',
    ]) {
      const [row] = await database.sql<{ rows: string }[]>`
        select json_agg(t)::text as rows from ${database.sql(table)} t where org_id = ${orgId}`
      await copy`insert into ${copy(table)} select * from json_populate_recordset(null::${copy(table)}, ${row!.rows}::text::json)`
    }
    const [copied] = await copy`select client_id from credentials where client_id = ${key.clientId}`
    await copy.end({ timeout: 5 })
    expect(copied).toEqual({ client_id: key.clientId })
    expectApiError(await exchange(other, key), 'unauthorized', { detail: 'Invalid client credentials' })
    expectApiError(await refresh(other, tokens.refresh), 'unauthorized')
    expectApiError(await whoAmI(other, tokens.access), 'unauthorized')
    expect((await exchange(context.app, key)).status).toBe(200)
  })
})
