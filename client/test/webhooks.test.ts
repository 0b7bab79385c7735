import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { newWebhookSecret } from '../../server/src/kernel/secrets.ts'
import { sign } from '../../server/src/webhooks/signature.ts'
import { type Delivery, type VerifyOptions, WebhookVerificationError, verifyWebhook } from '../src/index.ts'
import { rejection } from './support/clients.ts'

const secret = newWebhookSecret()
const nowMs = Date.UTC(2026, 4, 4, 8)
const event = {
  event: 'asset.moved',
  delivery_id: '2bc1d456-93bc-440d-a4f0-121246da23de',
  occurred_at: '2026-05-04T08:00:00.000Z',
  data: {
    asset: { id: 1, external_key: 'JACK-7', name: 'Hubwagen “ü”' },
    from_location: null,
    to_location: { id: 2, name: 'Dock' },
  },
}
const body = Buffer.from(JSON.stringify(event))

/** A delivery as the server signs it, of an observation some seconds ago. */
function delivered(secondsAgo = 0): Delivery & { headers: Record<string, string> } {
  const occurredMs = nowMs - secondsAgo * 1000
  return sign(secret, { id: event.delivery_id, occurredMs, startedMs: nowMs, body })
}

const without = (headers: Record<string, string>, prefix: string) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith(prefix)))

const verify = (delivery: Delivery, options: VerifyOptions = {}) =>
  verifyWebhook(secret, delivery, { nowMs, ...options })

const reasonOf = async (promise: Promise<unknown>): Promise<string> => {
  const error = await rejection(promise)
  expect(error).toBeInstanceOf(WebhookVerificationError)
  return (error as WebhookVerificationError).reason
}

describe('verifyWebhook', () => {
  it('gives the event of a delivery that the server signed, by either signature', async () => {
    expect(await verify(delivered())).toEqual(event)
    expect(await verify(delivered(), { scheme: 'service' })).toEqual(event)
    expect(await verify(delivered(), { scheme: 'standard' })).toEqual(event)
  })

  it('takes headers and bodies as programs have them', async () => {
    const { headers } = delivered()
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]))
    expect(await verify({ headers: new Headers(headers), body: body.toString() })).toEqual(event)
    expect(await verify({ headers: lower, body: new Uint8Array(body) })).toEqual(event)
  })

  it('takes what openssl signs with the secret as it was shown', async () => {
    const timestamp = String(nowMs / 1000)
    const flags = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${Buffer.from(secret).toString('hex')}`, '-r']
    const input = Buffer.concat([Buffer.from(`${timestamp}.`), body])
    const hex = execFileSync('openssl', flags, { input }).toString().split(' ')[0]!
    const headers = { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': `sha256=${hex}` }
    expect(await verify({ headers, body })).toEqual(event)
  })

  it('takes the right one of several standard signatures, as a change of secrets sends them', async () => {
    const { headers } = delivered()
    const both = { ...headers, 'webhook-signature': `v1,AAAA v2,zzz ${headers['webhook-signature']}` }
    expect(await verify({ headers: both, body })).toEqual(event)
  })

  it('refuses a body that was changed, by a blank or by being written again', async () => {
    for (const scheme of ['service', 'standard'] as const) {
      const changed = Buffer.concat([body, Buffer.from(' ')])
      expect(await reasonOf(verify({ ...delivered(), body: changed }, { scheme }))).toBe('wrong_signature')
    }
  })

  it('refuses another secret, and one without its prefix', async () => {
    const { headers } = delivered()
    expect(await reasonOf(verifyWebhook(newWebhookSecret(), { headers, body }, { nowMs }))).toBe('wrong_signature')
    const bare = verifyWebhook(secret.slice('whsec_'.length), { headers, body }, { nowMs, scheme: 'service' })
    expect(await reasonOf(bare)).toBe('wrong_signature')
  })

  it.each(['', 'sha256=', 'sha256=zz', 'sha1=abcd', `sha256=${'0'.repeat(64)}`, `sha256=${'0'.repeat(65)}`])(
    'refuses the signature %j',
    async (signature) => {
      const headers = { ...delivered().headers, 'X-Service-Signature': signature }
      expect(await reasonOf(verify({ headers, body }, { scheme: 'service' }))).toBe('wrong_signature')
    },
  )

  it('refuses another timestamp than the one that was signed', async () => {
    const headers = { ...delivered().headers, 'X-Service-Timestamp': String(nowMs / 1000 - 1) }
    expect(await reasonOf(verify({ headers, body }, { scheme: 'service' }))).toBe('wrong_signature')
  })

  it('refuses timestamps more than five minutes away, or as far as it is told', async () => {
    const service = { scheme: 'service' } as const
    expect(await verify(delivered(300), service)).toEqual(event)
    expect(await reasonOf(verify(delivered(301), service))).toBe('stale')
    expect(await reasonOf(verify(delivered(-301), service))).toBe('stale')
    expect(await verify(delivered(3000), { ...service, toleranceSeconds: 3600 })).toEqual(event)
  })

  it('goes by the time of the delivery where it was sent, so that late observations pass', async () => {
    expect(await verify(delivered(86_400))).toEqual(event)
    const { headers } = delivered(86_400)
    expect(await reasonOf(verify({ headers: without(headers, 'webhook-'), body }))).toBe('stale')
  })

  it('says which header is missing', async () => {
    const error = await rejection(verify({ headers: {}, body }))
    expect(error).toMatchObject({ reason: 'missing_header', message: 'x-service-timestamp is missing' })
  })
})
