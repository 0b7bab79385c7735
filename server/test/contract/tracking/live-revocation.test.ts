import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { mintCredentials } from '../../../src/auth/commands.ts'
import { type TestUser, requestAs, createSignedInUser } from '../../support/accounts.ts'
import { type TestApp, type TestOrg, startApp } from '../../support/app.ts'
import { EventStream } from '../../support/event-stream.ts'
import { closeDatabase, database, eventually, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')
let second: TestApp
let org: TestOrg
let admin: TestUser
const open: EventStream[] = []

beforeAll(async () => {
  second = await startApp({ sharesDatabaseWith: context.app, isOneOfSeveral: true, clock: context.clock })
  org = await context.app.newOrg()
  admin = await createSignedInUser(org, 'admin')
})
afterEach(() => {
  for (const stream of open.splice(0)) stream.close()
})
afterAll(async () => {
  await closeDatabase(context.app)
  await second.stop()
})

/** One stream in each process. */
async function watch(token: string): Promise<EventStream[]> {
  const streams = await Promise.all([context.app, second].map((app) => EventStream.open(app, token)))
  open.push(...streams)
  expect(streams.map((stream) => stream.status)).toEqual([200, 200])
  return streams
}

const expectEnded = (streams: EventStream[], withinMs = 1000): Promise<void> =>
  eventually(async () => expect(streams.map((stream) => stream.isOver)).toEqual([true, true]), withinMs)

describe('A live stream ends in every process within a second', () => {
  it('when its API key is revoked, and streams of other keys stay open [D40]', async () => {
    const draft = { name: 'live', scopes: ['tracking:read'], expiresAt: null, createdBy: null }
    const [minted] = await mintCredentials(context.app.context, org.orgId, draft, 1)
    const { credential, clientSecret } = minted!
    const client = org.client('tracking:read')
    const revoked = await watch(await client.exchange({ clientId: credential.clientId, clientSecret }))
    const others = await watch(await client.token())
    const path = `/orgs/${org.orgId}/api-keys/${credential.id}`
    expect((await requestAs(context.app, admin, 'DELETE', path)).status).toBe(204)
    await expectEnded(revoked)
    expect(others.map((stream) => stream.isOver)).toEqual([false, false])
  })

  it('when the user signs out, and streams of another session of the same user stay open', async () => {
    const user = await createSignedInUser(org, 'viewer')
    const { json } = await context.app.anonymous('POST', '/api/v1/auth/login', {
      json: { email: user.email, password: 'correct horse battery' },
    })
    const [streams, others] = [await watch(user.token), await watch(json.data.access_token)]
    expect((await requestAs(context.app, user, 'POST', '/auth/logout')).status).toBe(204)
    await expectEnded(streams)
    expect(others.map((stream) => stream.isOver)).toEqual([false, false])
  })

  it.each([
    ['is removed', 'DELETE', undefined],
    ['gets another role', 'PATCH', { role: 'operator' }],
  ] as const)('when the member %s', async (_what, method, json) => {
    const user = await createSignedInUser(org, 'viewer')
    const streams = await watch(user.token)
    const reply = await requestAs(
      context.app,
      admin,
      method,
      `/members/${user.userId}`,
      json === undefined ? {} : { json },
    )
    expect(reply.status).toBe(json === undefined ? 204 : 200)
    await expectEnded(streams)
  })

  it('when its access token expires', async () => {
    context.clock.set('2026-05-04T12:30:00Z')
    const { token } = await createSignedInUser(org, 'viewer')
    context.clock.set('2026-05-04T12:44:59.500Z')
    const streams = await watch(token)
    await expectEnded(streams, 1500)
  })

  it('when its API key expires before the access token', async () => {
    context.clock.set('2026-05-04T13:00:00Z')
    const json = { name: 'short', scopes: ['tracking:read'], expires_at: '2026-05-04T13:00:10Z' }
    const { json: made } = await requestAs(
      context.app,
      await createSignedInUser(org, 'admin'),
      'POST',
      `/orgs/${org.orgId}/api-keys`,
      {
        json,
      },
    )
    const pair = { clientId: made.data.jti, clientSecret: made.data.key }
    const token = await org.client('tracking:read').exchange(pair)
    context.clock.set('2026-05-04T13:00:09.500Z')
    await expectEnded(await watch(token), 1500)
  })
})

describe('A process that missed a revocation', () => {
  it('ends the stream once it listens again', async () => {
    const user = await createSignedInUser(org, 'viewer')
    const [, stream] = await watch(user.token)
    const sql = database(context.app)
    await sql`update refresh_token_families set revoked_at = now() where user_id = ${user.userId}`
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen %'`
    await eventually(async () => expect(stream!.isOver).toBe(true))
  })
})
