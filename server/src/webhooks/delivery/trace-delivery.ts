import {
  type Attributes,
  type Span,
  type Traceparent,
  SpanKind,
  inChildSpan,
  inRootSpan,
  setFailed,
} from '../../kernel/tracing.ts'
import type { Outcome, WebhookSender } from '../sender.ts'
import type { Signed } from '../signature.ts'

/** Claims moves in a span of its own trace, because it claims the moves of several requests and batches. */
export const traceClaim = (orgId: number, claim: () => Promise<number>): Promise<number> =>
  inRootSpan(
    () => ({ name: 'webhook claim', kind: SpanKind.INTERNAL, attributes: { 'lastseen.org_id': orgId } }),
    async (span) => {
      const claimed = await claim()
      span?.setAttribute('lastseen.moves', claimed)
      return claimed
    },
  )

interface Attempt {
  deliveryId: string
  attempt: number
  /** The span that recorded the move. */
  traceparent: Traceparent | null
}

/** Only the host of the endpoint: paths and queries may contain secrets of the receiver. */
function attributesOf(url: string, { deliveryId, attempt }: Attempt): Attributes {
  const { hostname, port } = new URL(url)
  return {
    'http.request.method': 'POST',
    'http.request.resend_count': attempt - 1,
    'server.address': hostname,
    'server.port': port === '' ? 443 : Number(port),
    'lastseen.delivery_id': deliveryId,
  }
}

/**
 * Sends one attempt in a client span. Its parent is the span that recorded the move, a request or a batch of reads, so that
 * one trace leads from there to the delivery. If that span was not traced, the parent is the claim.
 */
export function traceAttempt(sender: WebhookSender, signed: Signed, attempt: Attempt): Promise<Outcome> {
  const describe = () => ({
    name: 'webhook attempt',
    kind: SpanKind.CLIENT,
    attributes: attributesOf(sender.url, attempt),
  })
  const send = async (span: Span | null): Promise<Outcome> => {
    const outcome = await sender.send(signed)
    if (span === null) return outcome
    if (outcome.status !== null) span.setAttribute('http.response.status_code', outcome.status)
    if (!outcome.isDelivered) setFailed(span, outcome.error ?? outcome.status)
    return outcome
  }
  const { traceparent } = attempt
  return traceparent === null
    ? inChildSpan(describe, send, { mayOutlive: true })
    : inRootSpan(describe, send, { traceparent })
}
