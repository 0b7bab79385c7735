import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { quotasOf } from '../../../src/cli/org.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import { requestAs, createSignedInUser } from '../../support/accounts.ts'
import { EventStream } from '../../support/event-stream.ts'
import { eventually, expectApiError } from '../../support/tracking.ts'

const settings = { LASTSEEN_LIVE_STREAMS_PER_USER: '2', LASTSEEN_LIVE_STREAMS_PER_ORG: '3' }
const context = useApp({ settings, singleServerReason: 'each process counts its own streams' })

const open: EventStream[] = []
afterEach(() => {
  for (const stream of open.splice(0)) stream.close()
})

async function watch(token: string): Promise<EventStream> {
  const stream = await EventStream.open(context.app, token)
  open.push(stream)
  expect(stream.status).toBe(200)
  return stream
}

const rejectionDetail = async (token: string): Promise<string> => {
  const reply = await requestAs(context.app, { token }, 'GET', '/live')
  expectApiError(reply, 429, 'rate_limited')
  expect(reply.headers['retry-after']).toMatch(/^[1-9]\d*$/)
  return reply.json.error.detail
}

const reached = (limit: number): string =>
  `Quota live_streams reached: the organization may have at most ${limit} live streams open at a time`

describe('Open live streams', () => {
  it('of one user are limited, whichever session opened them', async () => {
    const org = await context.app.newOrg()
    const user = await createSignedInUser(org, 'viewer')
    const first = await watch(user.token)
    await watch(user.token)
    expect(await rejectionDetail(user.token)).toBe('One user or API key may have 2 live streams open at a time')
    first.close()
    await eventually(async () => {
      await watch(user.token)
    })
  })

  it('of one API key are limited, and a request with HEAD opens none', async () => {
    const token = await (await context.app.newOrg()).client('tracking:read').token()
    for (let count = 0; count < 3; count++)
      expect((await context.app.anonymous('HEAD', '/api/v1/live', { token })).status).toBe(200)
    await watch(token)
    await watch(token)
    expect(await rejectionDetail(token)).toBe('One user or API key may have 2 live streams open at a time')
  })

  it('of one organization are limited, and those of another one are not affected', async () => {
    const org = await context.app.newOrg()
    const people = await Promise.all([1, 2, 3].map(() => createSignedInUser(org, 'viewer')))
    for (const { token } of [people[0]!, people[0]!, people[1]!]) await watch(token)
    expect(await rejectionDetail(people[2]!.token)).toBe(reached(3))
    await watch((await createSignedInUser(await context.app.newOrg(), 'viewer')).token)
  })

  it('of one organization are a quota, which the operator sets and the app shows with its use', async () => {
    const org = await context.app.newOrg(`Org ${Math.random()}`)
    const [one, two] = [await createSignedInUser(org, 'viewer'), await createSignedInUser(org, 'viewer')]
    const quota = async () =>
      (await requestAs(context.app, one, 'GET', '/quotas')).json.data.find(
        ({ quota: name }: { quota: string }) => name === 'live_streams',
      )
    const set = (limit: number | null) => quotasOf(context.app.context, { org: org.name, set: { live_streams: limit } })
    expect(await quota()).toEqual({ quota: 'live_streams', used: 0, limit: 3 })
    expect((await set(1)).rows).toContainEqual({
      ...{ org_id: org.orgId, quota: 'live_streams', used: null, limit: 1, source: 'organization' },
    })
    await watch(one.token)
    expect(await quota()).toEqual({ quota: 'live_streams', used: 1, limit: 1 })
    expect(await rejectionDetail(two.token)).toBe(reached(1))
    await set(5)
    await watch(two.token)
    await set(0)
    expect(await rejectionDetail(one.token)).toBe(reached(0))
    expect(open.map((stream) => stream.isOver)).toEqual([false, false])
    await set(null)
    await watch(two.token)
    expect(await rejectionDetail(one.token)).toBe(reached(3))
  })

  it('opened at the same moment are counted exactly', async () => {
    const { token } = await createSignedInUser(await context.app.newOrg(), 'viewer')
    const streams = await Promise.all(Array.from({ length: 8 }, () => EventStream.open(context.app, token)))
    open.push(...streams)
    expect(streams.map((stream) => stream.status).toSorted()).toEqual([200, 200, ...Array<number>(6).fill(429)])
  })
})

describe('A live stream whose client does not read', () => {
  /** A client that reads the headers of the response and then stops reading. */
  async function openUnread(token: string): Promise<Socket> {
    const { hostname, port } = new URL(context.app.url)
    const socket = connect(Number(port), hostname)
    socket.write(`GET /api/v1/live HTTP/1.1\r\nHost: a\r\nUser-Agent: tests\r\nAuthorization: Bearer ${token}\r\n\r\n`)
    const [head] = (await once(socket, 'data')) as [Buffer]
    expect(head.toString()).toMatch(/^HTTP\/1\.1 200 /)
    socket.pause()
    return socket
  }

  /** Publishes so many events that they exceed the buffer of a client that does not read. */
  async function publishTo(org: TestOrg): Promise<void> {
    const ids = Array<number>(400).fill(org.orgId).join(',')
    for (let count = 0; count < 5; count++) await context.app.context.pubsub.publish('readers', ids)
  }

  it('is sent a last gap event and closed once more than 64 KiB wait for it, which frees its slot', async () => {
    const org = await context.app.newOrg()
    const { token } = await createSignedInUser(org, 'viewer')
    const healthy = await watch(token)
    const unread = await openUnread(token)
    let reopened = await EventStream.open(context.app, token)
    for (let round = 0; reopened.status === 429; round++) {
      expect(round, 'rounds').toBeLessThan(1000)
      await publishTo(org)
      reopened = await EventStream.open(context.app, token)
    }
    open.push(reopened)
    let received = ''
    unread.on('data', (chunk) => (received = (received + chunk.toString()).slice(-200))).resume()
    await eventually(async () => expect(received).toMatch(/event: gap\ndata: \{\}\n\n\r\n0\r\n\r\n$/))
    unread.destroy()
    expect([healthy.isOver, healthy.of('gap')]).toEqual([false, []])
  })
})
