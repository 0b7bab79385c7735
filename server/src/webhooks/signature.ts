import { createHmac } from 'node:crypto'
import { event } from './webhook.ts'

const seconds = (epochMs: number): string => String(Math.floor(epochMs / 1000))

/** The contract's signature: the key is the secret as it was shown, including the prefix. */
function serviceSignature(secret: string, timestamp: string, body: Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`
}

/** The signature of Standard Webhooks: the key is the base64-decoded secret without the prefix. */
function standardSignature(secret: string, id: string, timestamp: string, body: Buffer): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}

/** A signed delivery. Every attempt sends the same bytes. */
export interface Signed {
  headers: Record<string, string>
  body: Buffer
}

/**
 * `occurredMs` is the time of the observation, the contract's timestamp. `startedMs` is the start of the delivery, the
 * timestamp of Standard Webhooks, whose libraries reject timestamps older than a few minutes.
 */
export function sign(
  secret: string,
  delivery: { id: string; occurredMs: number; startedMs: number; body: Buffer },
): Signed {
  const { id, body } = delivery
  const [occurred, started] = [seconds(delivery.occurredMs), seconds(delivery.startedMs)]
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'Service-Webhooks/1',
    'X-Service-Event': event,
    'X-Service-Delivery': id,
    'X-Service-Timestamp': occurred,
    'X-Service-Signature': serviceSignature(secret, occurred, body),
    'webhook-id': id,
    'webhook-timestamp': started,
    'webhook-signature': standardSignature(secret, id, started, body),
  }
  return { headers, body }
}
