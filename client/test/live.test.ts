import { beforeEach, describe, expect, it } from 'vitest'
import { type LiveEvent, Lastseen } from '../src/index.ts'
import { SleepClock, rejection } from './support/clients.ts'
import { useProxy } from './support/proxy.ts'

const proxy = useProxy()
let controller: AbortController

beforeEach(() => {
  proxy.reset()
  controller = new AbortController()
})

/** Starts a stream that ends at the latest with its fourth request. */
function live(accessToken: string | (() => string) = 'token'): AsyncGenerator<LiveEvent, void, undefined> {
  const clock = new SleepClock()
  const onRequest = ({ url }: { url: string }): void => {
    if (url.endsWith('/live') && proxy.requests.length >= 4) controller.abort()
  }
  return new Lastseen({ baseUrl: proxy.url, accessToken, clock, onRequest }).live({ signal: controller.signal })
}

const eventStream = (body: string) => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body })
const move = { delivery_id: 'd-1', occurred_at: '2026-05-04T08:00:00.000Z' }

describe('live', () => {
  it('connects again after a failure of the server or the network, and while it is rate-limited', async () => {
    proxy.respond(502, { status: 429, headers: { 'retry-after': '1' } }, 'disconnect', {
      ...eventStream(`id: 7\nevent: move\ndata: ${JSON.stringify(move)}\n\n`),
    })
    expect((await live().next()).value).toEqual({ type: 'move', id: '7', move })
  })

  it('throws what the function that provides access tokens throws', async () => {
    let calls = 0
    const stream = live(() => {
      if (++calls > 3) controller.abort()
      throw new Error('the vault is closed')
    })
    expect(await rejection(stream.next())).toMatchObject({ message: 'the vault is closed' })
    expect(calls).toBe(1)
  })

  it('throws when an event is not JSON, instead of asking for it for ever', async () => {
    proxy.respond(eventStream('id: 7\nevent: move\ndata: {\n\n'))
    expect(await rejection(live().next())).toBeInstanceOf(SyntaxError)
    expect(proxy.requests).toHaveLength(1)
  })
})
