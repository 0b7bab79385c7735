import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Authority } from '../support/certificates.ts'
import { type Behaviour, type WebhookReceiver, respondWith } from '../support/webhook-receiver.ts'
import { eventually } from '../support/tracking.ts'
import { WebhookOrg, urlOf, useWebhookNetwork } from '../support/webhooks.ts'

const network = useWebhookNetwork()

/** The tolerance for delays of the machine. */
const slackMs = 2500

const timeoutMs = 60_000

/** One event sent to an endpoint that behaves like this, and when its attempts arrived, in milliseconds between them. */
async function deliver(
  behaviour: Behaviour,
): Promise<{ webhookOrg: WebhookOrg; receiver: WebhookReceiver; id: string }> {
  const receiver = await network.receiver()
  receiver.behaviour = behaviour
  const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
  const [id] = await webhookOrg.move()
  return { webhookOrg, receiver, id: id! }
}

const gaps = ({ received }: WebhookReceiver): number[] =>
  received.slice(1).map((one, index) => one.atMs - received[index]!.atMs)

/** The pause with its jitter of 20 %, after an attempt of this duration. */
function expectPause(gapMs: number | undefined, pauseMs: number, attemptMs = 0): void {
  expect(gapMs).toBeGreaterThanOrEqual(attemptMs + 0.8 * pauseMs - 5)
  expect(gapMs).toBeLessThanOrEqual(attemptMs + 1.2 * pauseMs + slackMs)
}

const outcomes = async (webhookOrg: WebhookOrg) =>
  (await webhookOrg.attempts()).reverse().map((one) => [one['attempt'], one['status'], one['error']])

async function settled(webhookOrg: WebhookOrg, count: number): Promise<unknown[]> {
  await eventually(async () => expect(await webhookOrg.attempts()).toHaveLength(count), timeoutMs)
  return outcomes(webhookOrg)
}

describe.concurrent('an event whose delivery', { timeout: 90_000 }, () => {
  it('is not answered times out after 5 seconds', async () => {
    const { webhookOrg, receiver } = await deliver(() => undefined)
    const failed = (attempt: number) => [attempt, null, 'timeout']
    expect(await settled(webhookOrg, 3)).toEqual([failed(1), failed(2), failed(3)])
    expect(receiver.received).toHaveLength(3)
    const made = (await webhookOrg.attempts()).reverse()
    for (const one of made) {
      expect(one['duration_ms']).toBeGreaterThanOrEqual(4990)
      expect(one['duration_ms']).toBeLessThan(5000 + slackMs)
    }
    // The 5 seconds begin before the request arrives, so the service's own times are compared with them.
    const [first, second, third] = made.map((one) => Date.parse(String(one['attempted_at'])))
    expectPause(second! - first!, 1000, 5000)
    expectPause(third! - second!, 5000, 5000)
  })

  it('fails is sent again after about 1 second and about 5 seconds, the same to the last byte, and then dropped (D33)', async () => {
    const { webhookOrg, receiver, id } = await deliver(respondWith(500))
    expect(await settled(webhookOrg, 3)).toEqual([
      [1, 500, null],
      [2, 500, null],
      [3, 500, null],
    ])
    const [first, ...others] = receiver.received
    expectPause(gaps(receiver)[0], 1000)
    expectPause(gaps(receiver)[1], 5000)
    expect(first!.headers['x-service-delivery']).toBe(id)
    for (const one of others) {
      expect(one.body.equals(first!.body)).toBe(true)
      expect(one.headers).toEqual(first!.headers)
    }
    await sleep(1500)
    expect(receiver.received).toHaveLength(3)
    expect(await webhookOrg.outbox()).toEqual({ moves: 1, waiting: 0 })
  })

  it('succeeds at the second attempt is not sent a third time', async () => {
    const { webhookOrg, receiver } = await deliver((response, _received, number) =>
      response.writeHead(number === 1 ? 500 : 200).end('thank you'),
    )
    expect(await settled(webhookOrg, 2)).toEqual([
      [1, 500, null],
      [2, 200, null],
    ])
    await sleep(6500)
    expect(receiver.received).toHaveLength(2)
  })

  it('is answered by any 2xx is delivered', async () => {
    const statuses = [200, 201, 202, 204, 299]
    const sent = await Promise.all(statuses.map((status) => deliver(respondWith(status))))
    for (const [index, { webhookOrg }] of sent.entries())
      expect(await settled(webhookOrg, 1)).toEqual([[1, statuses[index], null]])
    await sleep(1500)
    for (const { receiver } of sent) expect(receiver.received).toHaveLength(1)
  })

  it('is answered by a redirect has failed, and the redirect is not followed', async () => {
    const elsewhere = await network.receiver()
    const statuses = [301, 302, 303, 307, 308]
    const sent = await Promise.all(statuses.map((one) => deliver(respondWith(one, { location: urlOf(elsewhere) }))))
    for (const [index, { webhookOrg }] of sent.entries())
      expect((await settled(webhookOrg, 3))[0]).toEqual([1, statuses[index], null])
    expect(elsewhere.connections).toBe(0)
  })

  it('is answered by any other status has failed and is retried after a second, whatever Retry-After says', async () => {
    const statuses = [304, 400, 401, 404, 410, 429, 503]
    const sent = await Promise.all(statuses.map((status) => deliver(respondWith(status, { 'retry-after': '60' }))))
    for (const { receiver } of sent) {
      await eventually(async () => expect(receiver.received).toHaveLength(2), timeoutMs)
      expectPause(gaps(receiver)[0], 1000)
    }
  })

  it('is aborted by the endpoint has failed', async () => {
    const { webhookOrg, receiver } = await deliver((_response, _received, _number, request) => request.socket.destroy())
    expect((await settled(webhookOrg, 3))[0]).toEqual([1, null, 'the connection was reset'])
    expect(receiver.received).toHaveLength(3)
    expectPause(gaps(receiver)[0], 1000)
  })

  it('is answered 2xx without an end of the body times out after 5 seconds too', async () => {
    const { webhookOrg, receiver } = await deliver((response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('.'), 100)
      response.on('close', () => clearInterval(timer))
    })
    await eventually(async () => expect(receiver.received).toHaveLength(2), timeoutMs)
    const [first] = (await webhookOrg.attempts()).slice(-1)
    expect(first).toMatchObject({ attempt: 1, status: 200, error: 'timeout' })
    expect(first!['duration_ms']).toBeGreaterThanOrEqual(4990)
  })

  it('is answered after 4 seconds is delivered', async () => {
    const { webhookOrg, receiver } = await deliver((response) => setTimeout(() => response.writeHead(200).end(), 4000))
    expect(await settled(webhookOrg, 1)).toEqual([[1, 200, null]])
    expect(receiver.received).toHaveLength(1)
  })

  it('is answered with a very large body is delivered, and the rest of the body is not read', async () => {
    let written = 0
    const { webhookOrg } = await deliver((response) => {
      response.writeHead(200)
      const more = (): void => {
        while (written < 500 && response.write(Buffer.alloc(1 << 20))) written++
        if (written < 500) response.once('drain', more)
      }
      more()
    })
    expect(await settled(webhookOrg, 1)).toEqual([[1, 200, null]])
    expect(written).toBeLessThan(100)
  })

  it('finds a certificate for another host has failed, and nothing was sent', async () => {
    const receiver = await network.receiver(network.authority.issue('DNS:other.test'))
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    await webhookOrg.move()
    const failed = (attempt: number) => [attempt, null, 'the certificate is for another host']
    expect(await settled(webhookOrg, 3)).toEqual([failed(1), failed(2), failed(3)])
    expect(receiver.received).toEqual([])
  })

  it('finds an untrusted certificate has failed, and nothing was sent', async () => {
    const outsider = new Authority()
    const receiver = await network.receiver(outsider.issue('DNS:hooks.test'))
    outsider.remove()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    await webhookOrg.move()
    expect((await settled(webhookOrg, 3))[0]).toEqual([1, null, 'the certificate is not trusted'])
    expect(receiver.received).toEqual([])
  })

  it('finds no server at the address has failed', async () => {
    const receiver = await network.receiver()
    const url = urlOf(receiver)
    await receiver.close()
    const webhookOrg = await WebhookOrg.with(network.app, url)
    await webhookOrg.move()
    expect((await settled(webhookOrg, 3))[0]).toEqual([1, null, 'the connection was refused'])
  })

  it('leads to an address that is not public has failed without a connection', async () => {
    const webhookOrg = await WebhookOrg.with(network.app, 'https://10.0.0.1/hook')
    await webhookOrg.move()
    const failed = (attempt: number) => [attempt, null, 'the host resolves to an address that is not allowed']
    expect(await settled(webhookOrg, 3)).toEqual([failed(1), failed(2), failed(3)])
  })
})
