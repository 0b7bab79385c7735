import { type Socket, createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseCidr } from '../../src/kernel/ip-range.ts'
import { WebhookSender } from '../../src/webhooks/sender.ts'
import { GuardedConnector } from '../../src/webhooks/ssrf-guard.ts'
import { Authority } from '../support/certificates.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'
import { eventually } from '../support/tracking.ts'

const timeoutMs = 400
const signed = { headers: {}, body: Buffer.from('{}') }
const allowed = [parseCidr('127.0.0.1')!]

describe('a request to an endpoint', () => {
  const authority = new Authority()
  const opened: WebhookSender[] = []
  let receiver: WebhookReceiver
  let silentNameServer: Socket

  beforeAll(async () => {
    silentNameServer = createSocket('udp4')
    await new Promise<void>((resolve) => silentNameServer.bind(0, '127.0.0.1', resolve))
  })
  beforeEach(async () => {
    receiver = await WebhookReceiver.open(authority.issue('IP:127.0.0.1'))
  })
  afterEach(async () => {
    for (const sender of opened.splice(0)) await sender.close()
    await receiver.close()
  })
  afterAll(() => {
    silentNameServer.close()
    authority.remove()
  })

  function open({ host = '127.0.0.1', connections = 1, ...limits }: Partial<Parameters<typeof options>[0]> = {}) {
    const nameServers = [`127.0.0.1:${(silentNameServer.address() as AddressInfo).port}`]
    const target = new GuardedConnector({ allowed, ca: authority.certificate, nameServers })
    const sender = new WebhookSender(target, options({ host, connections, ...limits }))
    opened.push(sender)
    return sender
  }

  const options = (given: { host: string; connections: number; timeoutMs?: number; cutOff?: AbortSignal }) => {
    const { host, ...limits } = given
    return { url: `https://${host}:${receiver.port}/`, timeoutMs, ...limits }
  }

  it('that is not answered ends after its own timeout, whatever other requests run beside it', async () => {
    receiver.behaviour = () => undefined
    const sender = open({ connections: 2 })
    const sendTimes = async (times: number) => {
      for (let time = 0; time < times; time++) {
        const outcome = await sender.send(signed)
        expect(outcome).toMatchObject({ isDelivered: false, status: null, error: 'timeout' })
        expect(outcome.durationMs).toBeGreaterThanOrEqual(timeoutMs - 1)
      }
    }
    const first = sendTimes(3)
    await new Promise((resume) => setTimeout(resume, timeoutMs / 2))
    await Promise.all([first, sendTimes(3)])
  })

  it('whose host is never resolved ends after the same timeout [D33]', async () => {
    const outcome = await open({ host: 'silent.test' }).send(signed)
    expect(outcome).toMatchObject({ isDelivered: false, status: null, error: 'timeout' })
    expect(outcome.durationMs).toBeLessThan(timeoutMs + 500)
  })

  it('whose response breaks off in the middle has failed, although its status was 200', async () => {
    receiver.behaviour = (response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half', () => response.destroy())
    }
    const outcome = await open({ timeoutMs: 5000 }).send(signed)
    expect(outcome).toMatchObject({ isDelivered: false, status: 200, error: 'the connection was reset' })
  })

  it.each([
    ['has a content-length', { 'content-length': String(200 * 1024) }],
    ['is chunked', {}],
  ])('whose response of 200 KiB %s is delivered, and the next request opens a new connection', async (_, headers) => {
    receiver.behaviour = (response) => response.writeHead(200, headers).end(Buffer.alloc(200 * 1024))
    const sender = open({ timeoutMs: 5000 })
    for (const connections of [1, 2]) {
      expect(await sender.send(signed)).toMatchObject({ isDelivered: true, status: 200, error: null })
      expect(receiver.connections).toBe(connections)
    }
  })

  it('whose response of 64 KiB is read to its end leaves the connection open', async () => {
    receiver.behaviour = (response) => response.writeHead(200).end(Buffer.alloc(64 * 1024))
    const sender = open({ timeoutMs: 5000 })
    for (let time = 0; time < 2; time++) expect(await sender.send(signed)).toMatchObject({ isDelivered: true })
    expect(receiver.connections).toBe(1)
  })

  it.each([
    ['waits for a response', '127.0.0.1'],
    ['waits for the name server', 'silent.test'],
  ])('that %s ends at once when the sender is destroyed', async (_, host) => {
    receiver.behaviour = () => undefined
    const cutOff = new AbortController()
    const sender = open({ host, timeoutMs: 5000, cutOff: cutOff.signal })
    const outcome = sender.send(signed)
    if (host === '127.0.0.1') await eventually(async () => expect(receiver.received).toHaveLength(1))
    cutOff.abort()
    expect(await outcome).toMatchObject({ isDelivered: false, status: null, error: 'the server was stopped' })
    expect((await outcome).durationMs).toBeLessThan(3000)
  })
})
