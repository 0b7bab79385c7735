import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { revokeCredential } from '../../../src/auth/commands.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import {
  ManualClock,
  type Key,
  exchange,
  mintKey,
  newTokens,
  refresh,
  tokensOf,
  useSql,
  whoAmI,
} from '../../support/auth.ts'
import { expectApiError } from '../../support/error-response.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSql(context)

let org: TestOrg
beforeAll(async () => {
  org = await context.app.newOrg()
})

const rejected = { detail: 'Invalid client credentials' }
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const revoke = ({ id }: Key): Promise<boolean> => revokeCredential(context.app.context, org.orgId, { id })

/** Every row of every table as text, byte columns as hexadecimal digits. */
async function everything(): Promise<string> {
  const tables = await database.sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`
  const texts = await Promise.all(tables.map(({ name }) => database.sql.unsafe(`select t::text as row from ${name} t`)))
  return texts.flatMap((rows) => rows.map((row) => row['row'] as string)).join('\n')
}

describe('A client secret', () => {
  it('is ls_ and 64 lowercase hex digits, and its client id is a UUID (D41)', async () => {
    const key = await mintKey(org)
    expect(key.clientSecret).toMatch(/^ls_[0-9a-f]{64}$/)
    expect(key.clientId).toMatch(uuid)
  })

  it('is different for every credential', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => mintKey(org)))
    expect(new Set(keys.map((key) => key.clientSecret)).size).toBe(20)
    expect(new Set(keys.map((key) => key.clientId)).size).toBe(20)
  })

  it('is stored only as its SHA-256 hash', async () => {
    const { clientId, clientSecret } = await mintKey(org)
    const hash = createHash('sha256').update(clientSecret).digest('hex')
    const [row] = await database.sql<{ hash: string }[]>`
      select encode(secret_hash, 'hex') as hash from credentials where client_id = ${clientId}`
    expect(row!.hash).toBe(hash)
  })

  it('is not in the database as text or bytes, and neither are the tokens it was exchanged for', async () => {
    const key = await mintKey(org)
    const tokens = await tokensOf(context.app, key)
    const all = await everything()
    expect(all).toContain(key.clientId)
    const digits = key.clientSecret.slice(3)
    const signature = tokens.access.split('.')[2]!
    const refreshSecret = tokens.refresh.slice(-40)
    for (const secret of [digits, signature, refreshSecret]) {
      expect(all).not.toContain(secret)
      expect(all).not.toContain(Buffer.from(secret).toString('hex'))
    }
  })
})

describe('A credential', () => {
  it('belongs to the organization it was minted in', async () => {
    const other = await context.app.newOrg('Other')
    const { access } = await newTokens(other, 'assets:read')
    const made = await org.full.post('/api/v1/assets', { name: 'Mine' })
    expect((await whoAmI(context.app, access)).json.data).toMatchObject({ id: other.orgId, name: 'Other' })
    const list = await context.app.anonymous('GET', '/api/v1/assets', { token: access })
    expect(list.json).toMatchObject({ data: [], total_count: 0 })
    const read = await context.app.anonymous('GET', `/api/v1/assets/${made.json.data.id}`, { token: access })
    expectApiError(read, 'forbidden')
  })

  it('is permanent without an expiry', async () => {
    const key = await mintKey(org)
    clock.advance(10 * 365 * 24 * 3600)
    const { access } = await tokensOf(context.app, key)
    expect((await whoAmI(context.app, access)).status).toBe(200)
  })

  it('is replaced by minting a new one and revoking the old one; until then both are valid', async () => {
    const old = await mintKey(org)
    const young = await mintKey(org)
    const before = await Promise.all([tokensOf(context.app, old), tokensOf(context.app, young)])
    for (const { access } of before) expect((await whoAmI(context.app, access)).status).toBe(200)
    await revoke(old)
    expectApiError(await whoAmI(context.app, before[0].access), 'unauthorized')
    expect((await whoAmI(context.app, before[1].access)).status).toBe(200)
    expect((await exchange(context.app, young)).status).toBe(200)
  })
})

describe('An expired credential', () => {
  const inAnHour = () => mintKey(org, { expiresAtMs: clock.millis() + 3_600_000 })

  it('can be exchanged until its expiry', async () => {
    const key = await inAnHour()
    clock.advance(3599.999)
    expect((await exchange(context.app, key)).status).toBe(200)
  })

  it('gives 401 on the exchange from its expiry on', async () => {
    const key = await inAnHour()
    clock.advance(3600)
    expectApiError(await exchange(context.app, key), 'unauthorized', rejected)
    clock.advance(3600)
    expectApiError(await exchange(context.app, key), 'unauthorized', rejected)
  })

  it('gives 401 on a refresh, and on a request with an access token that would still be good', async () => {
    const key = await inAnHour()
    clock.advance(3599)
    const { access, refresh: token } = await tokensOf(context.app, key)
    expect((await whoAmI(context.app, access)).status).toBe(200)
    clock.advance(1)
    expectApiError(await whoAmI(context.app, access), 'unauthorized', { detail: 'Invalid or expired token' })
    expectApiError(await refresh(context.app, token), 'unauthorized')
  })
})

describe('A revoked credential', () => {
  it('gives 401 on the exchange', async () => {
    const key = await mintKey(org)
    expect((await exchange(context.app, key)).status).toBe(200)
    await revoke(key)
    expectApiError(await exchange(context.app, key), 'unauthorized', rejected)
  })

  it('has all its refresh-token families revoked', async () => {
    const key = await mintKey(org)
    const first = await tokensOf(context.app, key)
    const second = await tokensOf(context.app, key)
    const third = await refresh(context.app, second.refresh)
    await revoke(key)
    for (const token of [first.refresh, third.json.refresh_token])
      expectApiError(await refresh(context.app, token), 'unauthorized')
    const [row] = await database.sql<{ live: number }[]>`
      select count(*) filter (where revoked_at is null) as live from refresh_token_families where client_id = ${key.clientId}`
    expect(row!.live).toBe(0)
  })

  it('has its access tokens rejected from the next request on, used before or not (D40)', async () => {
    const key = await mintKey(org)
    const warm = await tokensOf(context.app, key)
    const cold = await tokensOf(context.app, key)
    expect((await whoAmI(context.app, warm.access)).status).toBe(200)
    await revoke(key)
    for (const { access } of [warm, cold])
      expectApiError(await whoAmI(context.app, access), 'unauthorized', { detail: 'Invalid or expired token' })
  })

  it('stays revoked', async () => {
    const key = await mintKey(org)
    await revoke(key)
    expect(await revoke(key)).toBe(false)
    clock.advance(3600)
    expectApiError(await exchange(context.app, key), 'unauthorized', rejected)
  })

  it('does not affect other credentials of its organization', async () => {
    const [one, two] = [await mintKey(org), await mintKey(org)]
    const { access, refresh: token } = await tokensOf(context.app, two)
    await revoke(one)
    expect((await whoAmI(context.app, access)).status).toBe(200)
    expect((await refresh(context.app, token)).status).toBe(200)
  })
})

describe('GET /api/v1/orgs/me', () => {
  it.each(['assets:read', 'locations:write', 'tracking:read', 'scans:read'])(
    'answers any credential, such as one with %s alone',
    async (scope) => {
      const key = await mintKey(org, { scopes: [scope] })
      const { access } = await tokensOf(context.app, key)
      const reply = await whoAmI(context.app, access)
      expect(reply.status).toBe(200)
      expect(reply.json).toEqual({
        data: { id: org.orgId, name: org.name, scopes: [scope], api_key_id: key.clientId },
      })
    },
  )

  it.each(['viewer', 'admin'] as const)(
    'answers 401 to the session of a %s: it takes API credentials only',
    async (role) => {
      const { accessToken } = await org.signIn(role)
      const reply = await whoAmI(context.app, accessToken)
      expectApiError(reply, 'unauthorized', { detail: 'Invalid or expired token', instance: '/api/v1/orgs/me' })
      const list = await context.app.anonymous('GET', '/api/v1/assets', { token: accessToken })
      expect(list.status).toBe(200)
    },
  )

  it('answers 422 missing_org_context when the credential has no organization', async () => {
    const lost = await context.app.newOrg('Lost')
    const { access } = await newTokens(lost)
    await database.sql`delete from organization_names where org_id = ${lost.orgId}`
    expectApiError(await whoAmI(context.app, access), 'missing_org_context', { instance: '/api/v1/orgs/me' })
  })
})
