import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { repository } from '../support/process.ts'
import type { ReceivedRequest } from '../support/webhook-receiver.ts'
import { eventually } from '../support/tracking.ts'
import { WebhookOrg, urlOf, useWebhookNetwork } from '../support/webhooks.ts'

const network = useWebhookNetwork()
const folder = mkdtempSync(join(tmpdir(), 'lastseen-samples-'))
const sample = (name: string): string => join(repository, 'docs/samples', name)

let webhookOrg: WebhookOrg
let real: ReceivedRequest
beforeAll(async () => {
  const receiver = await network.receiver()
  webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
  await webhookOrg.move()
  await eventually(async () => expect(receiver.received).toHaveLength(1))
  real = receiver.received[0]!
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** One of the samples, started by the command that its text shows, and what it has printed so far. */
class Sample {
  printed = ''
  readonly #child: ChildProcess

  constructor([file, ...args]: readonly string[], settings: Record<string, string>) {
    const env = { PATH: process.env['PATH'], ...settings }
    this.#child = spawn(file!, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.printed += text))
  }

  async listens(): Promise<void> {
    await eventually(async () => expect(this.printed).toContain('listening'), 20_000)
  }

  stop(): void {
    this.#child.kill()
  }
}

const javaScript = [process.execPath, sample('receiver.mjs')]

describe('the receiver in JavaScript of the documentation', () => {
  it('accepts a signed event from Lastseen over HTTPS with the configured certificate', async () => {
    const [port, cert, key] = [await freePort(), join(folder, 'cert.pem'), join(folder, 'key.pem')]
    writeFileSync(cert, network.pair.cert)
    writeFileSync(key, network.pair.key)
    const mover = await WebhookOrg.with(network.app, `https://hooks.test:${port}/`)
    const settings = { PORT: String(port), WEBHOOK_SECRET: mover.secret, TLS_CERT: cert, TLS_KEY: key }
    const receiver = new Sample(javaScript, settings)
    try {
      await receiver.listens()
      await mover.move()
      await eventually(async () => expect(receiver.printed).toContain('THING 1 (nowhere) -> Dock'))
      await eventually(async () => expect(await mover.attempts()).toMatchObject([{ status: 204 }]))
    } finally {
      receiver.stop()
    }
  })
})

it.each([
  ['receiver.mjs', /timingSafeEqual\(/],
  ['receiver.py', /hmac\.compare_digest\(/],
])('the sample %s compares signatures in constant time', (name, comparison) => {
  expect(readFileSync(sample(name), 'utf8')).toMatch(comparison)
})

describe.each([
  ['JavaScript', javaScript],
  ['Python', ['python3', sample('receiver.py')]],
])('the receiver in %s of the documentation', (_language, command) => {
  let receiver: Sample
  let url: string
  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}/`
    receiver = new Sample(command, { PORT: String(port), WEBHOOK_SECRET: webhookOrg.secret })
    await receiver.listens()
  })
  afterAll(() => receiver.stop())

  async function post(body: Buffer, headers: Record<string, string>): Promise<number> {
    const sent = { 'content-type': 'application/json', ...headers }
    const reply = await fetch(url, { method: 'POST', headers: sent, body: new Uint8Array(body) })
    await reply.arrayBuffer()
    return reply.status
  }

  const signed = (body: string, seconds: number): [Buffer, Record<string, string>] => {
    const hex = createHmac('sha256', webhookOrg.secret).update(`${seconds}.${body}`).digest('hex')
    return [Buffer.from(body), { 'x-service-timestamp': String(seconds), 'x-service-signature': `sha256=${hex}` }]
  }

  const genuine = () => {
    const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = real.headers
    return { 'x-service-timestamp': timestamp!, 'x-service-signature': signature! }
  }

  const lines = (): number => receiver.printed.trim().split('\n').length - 1

  it('accepts a real delivery, and handles it once however often it is received', async () => {
    expect(await post(real.body, genuine())).toBe(204)
    expect(await post(real.body, genuine())).toBe(204)
    await eventually(async () => expect(receiver.printed).toContain('THING 1 (nowhere) -> Dock'))
    expect(lines()).toBe(1)
  })

  it('rejects a body or a timestamp that was changed, and a signature of another secret', async () => {
    const changed = Buffer.from(real.body.toString().replace('Thing 1', 'Thing 2'))
    expect(await post(changed, genuine())).toBe(401)
    const later = String(Number(real.headers['x-service-timestamp']) + 1)
    expect(await post(real.body, { ...genuine(), 'x-service-timestamp': later })).toBe(401)
    expect(await post(real.body, { ...genuine(), 'x-service-signature': `sha256=${'0'.repeat(64)}` })).toBe(401)
    expect(await post(real.body, {})).toBe(401)
    expect(lines()).toBe(1)
  })

  it('rejects an event older than five minutes although its signature is valid', async () => {
    const now = Math.floor(Date.now() / 1000)
    const body = real.body.toString().replace(/"delivery_id":"[^"]+"/, '"delivery_id":"another"')
    expect(await post(...signed(body, now - 310))).toBe(401)
    expect(await post(...signed(body, now - 280))).toBe(204)
    await eventually(async () => expect(lines()).toBe(2))
  })

  it('ignores an unknown event type', async () => {
    const body = JSON.stringify({ event: 'asset.painted', delivery_id: 'x', data: {} })
    expect(await post(...signed(body, Math.floor(Date.now() / 1000)))).toBe(204)
    expect(lines()).toBe(2)
  })
})
