/** The event of a webhook delivery: an asset has moved to another location. */
export interface AssetMoved {
  event: 'asset.moved'
  /** Identical in every attempt of a delivery: use it to ignore duplicates. */
  delivery_id: string
  /** When the asset was seen at the new location, in RFC 3339. */
  occurred_at: string
  data: {
    asset: { id: number; external_key: string; name: string }
    /** Null when the asset had not been seen before. */
    from_location: { id: number; name: string } | null
    to_location: { id: number; name: string }
  }
}

type HeaderValues = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** A webhook request as your server received it. */
export interface Delivery {
  headers: HeaderValues
  /** The raw body: a body that was parsed and serialized again does not match the signature. */
  body: string | Uint8Array
}

/** Options of `verifyWebhook`. */
export interface VerifyOptions {
  /** The largest allowed difference between the timestamp and now. Default: 300. */
  toleranceSeconds?: number
  /**
   * Which of the two signatures to check. `service` is `X-Service-Signature`, whose timestamp is the time of the move;
   * `standard` is the signature of Standard Webhooks, whose timestamp is the time of the delivery. Default: `standard` when
   * the delivery has that signature, otherwise `service`.
   */
  scheme?: 'service' | 'standard'
  /** The current time in milliseconds, for tests. */
  nowMs?: number
}

/** The delivery cannot be verified. Answer with 401 and do not process it. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly reason: 'missing_header' | 'malformed' | 'stale' | 'wrong_signature'

  constructor(reason: WebhookVerificationError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

const encoder = new TextEncoder()

function headerOf(headers: HeaderValues, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name)
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return found === undefined ? null : [found].flat().join(', ')
}

function required(headers: HeaderValues, name: string): string {
  const value = headerOf(headers, name)
  if (value === null) throw new WebhookVerificationError('missing_header', `The header ${name} is missing`)
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

function withPrefix(prefix: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(prefix)
  const content = new Uint8Array(head.length + body.length)
  content.set(head)
  content.set(body, head.length)
  return content
}

/** What has to be verified: at least one of the signatures must match the signed content. */
interface SignatureCheck {
  timestamp: string
  key: Uint8Array<ArrayBuffer>
  signedContent: Uint8Array<ArrayBuffer>
  signatures: (Uint8Array<ArrayBuffer> | null)[]
}

/** `X-Service-Signature`: the key is the whole text of the secret, including `whsec_`. */
function serviceCheck(secret: string, headers: HeaderValues, body: Uint8Array): SignatureCheck {
  const timestamp = required(headers, 'x-service-timestamp')
  const signature = required(headers, 'x-service-signature')
  const signatures = signature.startsWith('sha256=') ? [fromHex(signature.slice('sha256='.length))] : []
  return { timestamp, key: encoder.encode(secret), signedContent: withPrefix(`${timestamp}.`, body), signatures }
}

/** Standard Webhooks: the key is the decoded base64 after `whsec_`. The header may contain several signatures. */
function standardCheck(secret: string, headers: HeaderValues, body: Uint8Array): SignatureCheck {
  const key = fromBase64(secret.replace(/^whsec_/, ''))
  if (key === null)
    throw new TypeError('The secret is not a webhook secret of Lastseen, which is whsec_ followed by base64.')
  const [id, timestamp] = [required(headers, 'webhook-id'), required(headers, 'webhook-timestamp')]
  const versioned = required(headers, 'webhook-signature').split(' ')
  const signatures = versioned
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => fromBase64(signature.slice('v1,'.length)))
  return { timestamp, key, signedContent: withPrefix(`${id}.${timestamp}.`, body), signatures }
}

/** WebCrypto compares in constant time. */
async function isSignatureValid({ key, signedContent, signatures }: SignatureCheck): Promise<boolean> {
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, hmac, false, ['verify'])
  for (const signature of signatures)
    if (signature !== null && (await crypto.subtle.verify('HMAC', imported, signature, signedContent))) return true
  return false
}

/**
 * Verifies that a delivery was signed with the webhook's secret within the tolerance, and returns its event. Throws a
 * WebhookVerificationError otherwise. Ignore events whose `event` you do not know.
 */
export async function verifyWebhook(
  secret: string,
  delivery: Delivery,
  { toleranceSeconds = 300, scheme, nowMs = Date.now() }: VerifyOptions = {},
): Promise<AssetMoved> {
  if (secret === '')
    throw new TypeError('The secret is empty. Pass the secret that Lastseen showed when the webhook was created.')
  const { headers } = delivery
  const body = typeof delivery.body === 'string' ? encoder.encode(delivery.body) : delivery.body
  const isStandard =
    (scheme ?? (headerOf(headers, 'webhook-signature') === null ? 'service' : 'standard')) === 'standard'
  const check = isStandard ? standardCheck(secret, headers, body) : serviceCheck(secret, headers, body)
  if (!(await isSignatureValid(check)))
    throw new WebhookVerificationError('wrong_signature', 'The signature does not match the body and the secret')
  const isNumber = /^\d+$/.test(check.timestamp)
  if (!isNumber || Math.abs(nowMs / 1000 - Number(check.timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError('stale', `The timestamp is not within ${toleranceSeconds} seconds of now`)
  try {
    return JSON.parse(new TextDecoder().decode(body)) as AssetMoved
  } catch {
    throw new WebhookVerificationError('malformed', 'The body is not JSON')
  }
}
