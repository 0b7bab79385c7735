/** A move, as it is announced. */
export interface AssetMoved {
  event: 'asset.moved'
  /** The same at every attempt: deduplicate on it. */
  delivery_id: string
  occurred_at: string
  data: {
    asset: { id: number; external_key: string; name: string }
    from_location: { id: number; name: string } | null
    to_location: { id: number; name: string }
  }
}

type HeaderBag = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export interface Delivery {
  headers: HeaderBag
  /** The raw body as it arrived: parsing it and writing it again breaks the signature. */
  body: string | Uint8Array
}

export interface VerifyOptions {
  /** How far the timestamp may be from now; 300 when absent, as the contract suggests. */
  toleranceSeconds?: number
  /**
   * Which of the two signatures to check. `service` is the contract's, whose time is that of the observation; `standard`
   * is that of Standard Webhooks, whose time is that of the delivery. When absent, `standard` where it was sent.
   */
  scheme?: 'service' | 'standard'
  nowMs?: number
}

/** The delivery is not proven to come from Lastseen. Answer 401 and look no further. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly reason: 'missing_header' | 'malformed' | 'stale' | 'wrong_signature'

  constructor(reason: WebhookVerificationError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

const text = new TextEncoder()

function headerOf(headers: HeaderBag, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name)
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return found === undefined ? null : [found].flat().join(', ')
}

function required(headers: HeaderBag, name: string): string {
  const value = headerOf(headers, name)
  if (value === null) throw new WebhookVerificationError('missing_header', `${name} is missing`)
  return value
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> | null {
  if (!/^([0-9a-f]{2})+$/.test(hex)) return null
  return Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16))
}

function fromBase64(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    return null
  }
}

function joined(prefix: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = text.encode(prefix)
  const whole = new Uint8Array(head.length + body.length)
  whole.set(head)
  whole.set(body, head.length)
  return whole
}

interface Claim {
  timestamp: string
  key: Uint8Array<ArrayBuffer>
  signed: Uint8Array<ArrayBuffer>
  /** One of them must be right. */
  signatures: (Uint8Array<ArrayBuffer> | null)[]
}

/** The contract's: keyed with the secret as it was shown, `whsec_` included. */
function serviceClaim(secret: string, headers: HeaderBag, body: Uint8Array): Claim {
  const timestamp = required(headers, 'x-service-timestamp')
  const signature = required(headers, 'x-service-signature')
  const signatures = signature.startsWith('sha256=') ? [fromHex(signature.slice('sha256='.length))] : []
  return { timestamp, key: text.encode(secret), signed: joined(`${timestamp}.`, body), signatures }
}

/** That of Standard Webhooks: keyed with what the base64 behind `whsec_` stands for; several signatures may be offered. */
function standardClaim(secret: string, headers: HeaderBag, body: Uint8Array): Claim {
  const key = fromBase64(secret.replace(/^whsec_/, ''))
  if (key === null)
    throw new TypeError('The secret is not one of Lastseen: it begins with whsec_ and goes on in base64.')
  const [id, timestamp] = [required(headers, 'webhook-id'), required(headers, 'webhook-timestamp')]
  const offered = required(headers, 'webhook-signature').split(' ')
  const signatures = offered.filter((one) => one.startsWith('v1,')).map((one) => fromBase64(one.slice('v1,'.length)))
  return { timestamp, key, signed: joined(`${id}.${timestamp}.`, body), signatures }
}

/** WebCrypto compares in constant time. */
async function isGenuine({ key, signed, signatures }: Claim): Promise<boolean> {
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, hmac, false, ['verify'])
  for (const signature of signatures)
    if (signature !== null && (await crypto.subtle.verify('HMAC', imported, signature, signed))) return true
  return false
}

/**
 * Checks that a delivery was signed with the webhook's secret a short time ago, and gives the event. Ignore events whose
 * `event` you do not know.
 */
export async function verifyWebhook(
  secret: string,
  delivery: Delivery,
  { toleranceSeconds = 300, scheme, nowMs = Date.now() }: VerifyOptions = {},
): Promise<AssetMoved> {
  if (secret === '') throw new TypeError('The secret is empty.')
  const { headers } = delivery
  const body = typeof delivery.body === 'string' ? text.encode(delivery.body) : delivery.body
  const isStandard =
    (scheme ?? (headerOf(headers, 'webhook-signature') === null ? 'service' : 'standard')) === 'standard'
  const claim = isStandard ? standardClaim(secret, headers, body) : serviceClaim(secret, headers, body)
  if (!(await isGenuine(claim))) throw new WebhookVerificationError('wrong_signature', 'the signature does not fit')
  const isTime = /^\d+$/.test(claim.timestamp)
  if (!isTime || Math.abs(nowMs / 1000 - Number(claim.timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError('stale', 'the timestamp is too far from now')
  try {
    return JSON.parse(new TextDecoder().decode(body)) as AssetMoved
  } catch {
    throw new WebhookVerificationError('malformed', 'the body is no JSON')
  }
}
