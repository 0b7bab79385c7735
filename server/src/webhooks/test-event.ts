import { WindowCounter } from '../admission/window-counter.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { millisOf } from '../kernel/instant.ts'
import { apiError } from '../kernel/errors.ts'
import type { Database } from '../db/database.ts'
import type { SecretBox } from '../kernel/secret-box.ts'
import { newUuid } from '../kernel/secrets.ts'
import { insertAttempts } from './attempts.sql.ts'
import { bodyOf, testMove } from './payload.ts'
import { type Outcome, WebhookSender } from './sender.ts'
import { sign } from './signature.ts'
import type { GuardedConnector } from './ssrf-guard.ts'
import { type Webhook, secretContext } from './webhook.ts'

interface Deps {
  db: Database
  clock: Clock
  secretBox: SecretBox
  target: GuardedConnector
}

export const timeoutMs = 5000

/** The maximum number of test events in flight per organization and process. */
const maxInFlight = 4
const maxPerMinute = 10

export type SendTest = (orgId: number, webhook: Webhook) => Promise<Outcome>

/** Sends a sample event once, even while delivery is disabled, and returns the outcome. */
export function testSender(deps: Deps): SendTest {
  const inFlight = new Map<number, number>()
  const { clock } = deps
  const sent = new WindowCounter({ max: maxPerMinute, windowMs: 60_000, clock })
  return async (orgId, webhook) => {
    const inFlightCount = inFlight.get(orgId) ?? 0
    if (inFlightCount >= maxInFlight) throw apiError.rateLimited(timeoutMs / 1000)
    sent.consume(webhook.id)
    inFlight.set(orgId, inFlightCount + 1)
    try {
      return await send(deps, orgId, webhook)
    } finally {
      const remaining = inFlight.get(orgId)! - 1
      if (remaining === 0) inFlight.delete(orgId)
      else inFlight.set(orgId, remaining)
    }
  }
}

async function send({ db, clock, secretBox, target }: Deps, orgId: number, webhook: Webhook): Promise<Outcome> {
  const at = now(clock)
  const move = testMove(newUuid(), at)
  const secret = secretBox.decrypt(webhook.encryptedSecret, secretContext(orgId, webhook.id))
  const [id, body] = [move.deliveryId, bodyOf(move)]
  const sender = new WebhookSender(target, { url: webhook.url, connections: 1, timeoutMs })
  try {
    const outcome = await sender.send(sign(secret, { id, body, occurredMs: millisOf(at), startedMs: millisOf(at) }))
    const attempt = { ...outcome, deliveryId: id, attempt: 1, attemptedAt: at }
    const source = { webhookId: webhook.id, event: 'test' }
    await db.withTenant(orgId, (tx) => insertAttempts(tx, orgId, source, [attempt]), { asyncCommit: true })
    return outcome
  } finally {
    await sender.close()
  }
}
