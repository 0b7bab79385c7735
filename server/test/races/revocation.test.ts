import { describe, expect, it } from 'vitest'
import { type TestApp, type TestOrg, useApp, useSecondApp } from '../support/app.ts'
import { ManualClock, exchange, mintKeys, refresh, tokensOf, whoAmI } from '../support/auth.ts'
import { raceRounds } from '../support/rounds.ts'

const rounds = raceRounds(100)
/** The clock stands still, so that neither the sessions nor what the processes remember runs out by itself. */
const clock = new ManualClock()
const settings = { LASTSEEN_TRUST_PROXY: 'true' }

/**
 * Revokes keys whose tokens are cached everywhere, and sends a request to every process as soon as the revocation is
 * answered.
 */
async function race(apps: readonly TestApp[], org: TestOrg): Promise<void> {
  const { accessToken } = await org.signIn('admin')
  for (const [round, key] of (await mintKeys(org, rounds)).entries()) {
    const headers = { 'x-forwarded-for': `10.0.${round >> 8}.${round & 255}` }
    const tokens = await tokensOf(apps[0]!, key)
    for (const app of apps) expect((await whoAmI(app, tokens.access)).status).toBe(200)
    const revoker = apps[round % apps.length]!
    const path = `/api/v1/orgs/${org.orgId}/api-keys/${key.id}`
    expect((await revoker.anonymous('DELETE', path, { token: accessToken })).status).toBe(204)
    const replies = await Promise.all(
      apps.flatMap((app) => [
        whoAmI(app, tokens.access),
        exchange(app, key, headers),
        refresh(app, tokens.refresh, headers),
      ]),
    )
    expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 401))
  }
}

describe('A revoked key (D40)', () => {
  describe('with one process', () => {
    const context = useApp({ clock, settings })

    it('is rejected from the very next request on', { timeout: 120_000 }, async () => {
      await race([context.app], await context.app.newOrg())
    })
  })

  describe('with two processes', () => {
    const context = useApp({ clock, settings, isOneOfSeveral: true })
    const second = useSecondApp(context, { clock, settings, isOneOfSeveral: true })

    it('is rejected from the very next request on in both', { timeout: 120_000 }, async () => {
      await race([context.app, second.app], await context.app.newOrg())
    })
  })
})
