import { describe, expect, it } from 'vitest'
import { FamilyLimit, exchangesPerCheck, maxFamilies } from '../../../src/auth/family-limit.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import { type Key, ManualClock, mintKey, refresh, tokensOf, useSql, whoAmI } from '../../support/auth.ts'
import { expectApiError } from '../../support/error-response.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSql(context)

/** Inserts families of the key that were used a second after the present one. */
async function insertFamilies(org: TestOrg, key: Key, count: number, isRevoked = false): Promise<void> {
  clock.advance(1)
  const at = new Date(clock.millis())
  await database.sql`
    insert into refresh_token_families
      (org_id, family_id, environment, client_id, token_hash, created_at, expires_at, revoked_at)
    select ${org.orgId}, gen_random_uuid(), 'live', ${key.clientId}, '', ${at},
      ${at}::timestamptz + interval '30 days', ${isRevoked ? at : null}
    from generate_series(1, ${count})`
}

async function countFamilies(org: TestOrg, key: Key): Promise<number> {
  const [row] = await database.sql<{ families: number }[]>`
    select count(*)::int as families from refresh_token_families
    where org_id = ${org.orgId} and client_id = ${key.clientId}`
  return row!.families
}

const applyLimit = (org: TestOrg, key: Key): Promise<void> =>
  context.app.context.db.withTenant(org.orgId, (tx) => new FamilyLimit().apply(tx, org.orgId, key.clientId))

describe('The refresh tokens of an API key', () => {
  it('are limited to 3,000: the next exchange ends the one that was not used for the longest time', async () => {
    const org = await context.app.newOrg()
    const key = await mintKey(org)
    const [unused, used] = [await tokensOf(context.app, key), await tokensOf(context.app, key)]
    await insertFamilies(org, key, maxFamilies - 2)
    await applyLimit(org, key)
    expect(await countFamilies(org, key)).toBe(maxFamilies)
    const next = await refresh(context.app, used.refresh)
    expect(next.status).toBe(200)

    await insertFamilies(org, key, 1)
    await applyLimit(org, key)
    expect(await countFamilies(org, key)).toBe(maxFamilies)
    expectApiError(await refresh(context.app, unused.refresh), 'unauthorized')
    expect((await whoAmI(context.app, unused.access)).status).toBe(200)
    expect((await refresh(context.app, next.json.refresh_token)).status).toBe(200)
  })

  it('do not end valid ones while revoked ones are kept', async () => {
    const org = await context.app.newOrg()
    const key = await mintKey(org)
    const valid = await tokensOf(context.app, key)
    await insertFamilies(org, key, maxFamilies, true)
    await applyLimit(org, key)
    expect(await countFamilies(org, key)).toBe(maxFamilies)
    expect((await refresh(context.app, valid.refresh)).status).toBe(200)
  })

  it('do not count those of other keys', async () => {
    const org = await context.app.newOrg()
    const [key, other] = [await mintKey(org), await mintKey(org)]
    const { refresh: token } = await tokensOf(context.app, other)
    await insertFamilies(org, key, maxFamilies + 1)
    await applyLimit(org, key)
    expect((await refresh(context.app, token)).status).toBe(200)
  })

  it('stay bounded however often the key is exchanged', async () => {
    const org = await context.app.newOrg()
    const key = await mintKey(org)
    await insertFamilies(org, key, maxFamilies)
    // Two processes may answer in turn, and each of them checks the key at its first exchange and at every 100th.
    for (let exchanged = 0; exchanged <= 2 * exchangesPerCheck; exchanged += 10)
      await Promise.all(Array.from({ length: 10 }, () => tokensOf(context.app, key)))
    expect(await countFamilies(org, key)).toBeLessThanOrEqual(maxFamilies + 2 * exchangesPerCheck)
    expect(await countFamilies(org, key)).toBeGreaterThanOrEqual(maxFamilies)
  })
})
