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

/** A delivery as the server signs it, of a move `secondsAgo` seconds ago. */
function signedDelivery(secondsAgo = 0): Delivery & { headers: Record<string, string> } {
  const occurredMs = nowMs - secondsAgo * 1000
  return sign(secret, { id: event.delivery_id, occurredMs, startedMs: nowMs, body })
}

const withoutPrefix = (headers: Record<string, string>, prefix: string) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith(prefix)))

const verify = (delivery: Delivery, options: VerifyOptions = {}) =>
  verifyWebhook(secret, delivery, { nowMs, ...options })

const reasonOf = async (promise: Promise<unknown>): Promise<string> => {
  const error = await rejection(promise)
  expect(error).toBeInstanceOf(WebhookVerificationError)
  return (error as WebhookVerificationError).reason
}

describe('verifyWebhook', () => {
  it('returns the event of a delivery that the server signed, with either signature', async () => {
    expect(await verify(signedDelivery())).toEqual(event)
    expect(await verify(signedDelivery(), { scheme: 'service' })).toEqual(event)
    expect(await verify(signedDelivery(), { scheme: 'standard' })).toEqual(event)
  })

  it('accepts Headers, plain objects, strings and bytes', async () => {
    const { headers } = signedDelivery()
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]))
    expect(await verify({ headers: new Headers(headers), body: body.toString() })).toEqual(event)
    expect(await verify({ headers: lower, body: new Uint8Array(body) })).toEqual(event)
  })

  it('accepts a signature that openssl made with the whole secret', async () => {
    const timestamp = String(nowMs / 1000)
    const flags = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${Buffer.from(secret).toString('hex')}`, '-r']
    const input = Buffer.concat([Buffer.from(`${timestamp}.`), body])
    const hex = execFileSync('openssl', flags, { input }).toString().split(' ')[0]!
    const headers = { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': `sha256=${hex}` }
    expect(await verify({ headers, body })).toEqual(event)
  })

  it('accepts several standard signatures when one is valid, as during a change of secrets', async () => {
    const { headers } = signedDelivery()
    const both = { ...headers, 'webhook-signature': `v1,AAAA v2,zzz ${headers['webhook-signature']}` }
    expect(await verify({ headers: both, body })).toEqual(event)
  })

  it('rejects a body that was changed by a space', async () => {
    for (const scheme of ['service', 'standard'] as const) {
      const changed = Buffer.concat([body, Buffer.from(' ')])
      expect(await reasonOf(verify({ ...signedDelivery(), body: changed }, { scheme }))).toBe('wrong_signature')
    }
  })

  it('rejects another secret, and a secret without its prefix', async () => {
    const { headers } = signedDelivery()
    expect(await reasonOf(verifyWebhook(newWebhookSecret(), { headers, body }, { nowMs }))).toBe('wrong_signature')
    const bare = verifyWebhook(secret.slice('whsec_'.length), { headers, body }, { nowMs, scheme: 'service' })
    expect(await reasonOf(bare)).toBe('wrong_signature')
  })

  it.each(['', 'sha256=', 'sha256=zz', 'sha1=abcd', `sha256=${'0'.repeat(64)}`, `sha256=${'0'.repeat(65)}`])(
    'rejects the signature %j',
    async (signature) => {
      const headers = { ...signedDelivery().headers, 'X-Service-Signature': signature }
      expect(await reasonOf(verify({ headers, body }, { scheme: 'service' }))).toBe('wrong_signature')
    },
  )

  it('rejects another timestamp than the signed one', async () => {
    const headers = { ...signedDelivery().headers, 'X-Service-Timestamp': String(nowMs / 1000 - 1) }
    expect(await reasonOf(verify({ headers, body }, { scheme: 'service' }))).toBe('wrong_signature')
  })

  it('rejects timestamps outside the tolerance, which is five minutes by default', async () => {
    const service = { scheme: 'service' } as const
    expect(await verify(signedDelivery(300), service)).toEqual(event)
    expect(await reasonOf(verify(signedDelivery(301), service))).toBe('stale')
    expect(await reasonOf(verify(signedDelivery(-301), service))).toBe('stale')
    expect(await verify(signedDelivery(3000), { ...service, toleranceSeconds: 3600 })).toEqual(event)
  })

  it('uses the timestamp of the delivery when there is one, so that late observations are accepted', async () => {
    expect(await verify(signedDelivery(86_400))).toEqual(event)
    const { headers } = signedDelivery(86_400)
    expect(await reasonOf(verify({ headers: withoutPrefix(headers, 'webhook-'), body }))).toBe('stale')
  })

  it('names the missing header', async () => {
    const error = await rejection(verify({ headers: {}, body }))
    expect(error).toMatchObject({ reason: 'missing_header', message: 'The header x-service-timestamp is missing' })
  })
})
