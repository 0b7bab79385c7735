import type { Database, Db } from '../db/database.ts'
import type { IdSource } from '../db/id-source.ts'
import { type Clock, nextUpdate, now } from '../kernel/clock.ts'
import { refuse } from '../kernel/errors.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import type { Seal } from '../kernel/sealed.ts'
import { newWebhookSecret } from '../kernel/secrets.ts'
import { setLapsed } from '../organizations/organizations.sql.ts'
import { dropUndue } from './outbox.sql.ts'
import { type Webhook, sealedFor } from './webhook.ts'
import {
  deleteWebhook,
  enlist,
  findWebhook,
  insertWebhook,
  lockStanding,
  setPeriod,
  updateWebhook,
} from './webhooks.sql.ts'

export interface WebhookNeeds {
  db: Database
  clock: Clock
  ids: IdSource
  seal: Seal
  /** Waits until every process knows what changed. */
  wake: { announce(topic: string, payload: string): Promise<void> }
  onDropped: OnDropped
}

/** Why an event was not delivered: nobody took it in time, delivery was switched off, or no attempt succeeded. */
type DropReason = 'late' | 'switched_off' | 'failed' | 'stopped'

export type OnDropped = (why: DropReason, events: number) => void

export const changeTopic = 'webhook-changed'

/** An event that nobody has taken for this long is not delivered any more. */
export const staleMs = 10 * 60_000

/** Once this is over, nothing that was recorded before the change is delivered. */
async function settle(needs: WebhookNeeds, orgId: number): Promise<void> {
  await needs.wake.announce(changeTopic, String(orgId))
  await giveUpUndue(needs, orgId)
}

/** Drops what is not to be delivered any more, in small steps. */
export async function giveUpUndue(
  { db, clock, onDropped }: Pick<WebhookNeeds, 'db' | 'clock' | 'onDropped'>,
  orgId: number,
): Promise<void> {
  for (let isMore = true; isMore;) {
    const notBefore = instantFromMillis(clock.millis() - staleMs)
    const dropped = await db.inOrganization(orgId, (tx) => dropUndue(tx, orgId, notBefore))
    if (dropped.late > 0) onDropped('late', dropped.late)
    if (dropped.switchedOff > 0) onDropped('switched_off', dropped.switchedOff)
    isMore = dropped.isMore
  }
}

export async function createWebhook(
  needs: WebhookNeeds,
  orgId: number,
  draft: { url: string; isEnabled: boolean },
): Promise<{ webhook: Webhook; secret: string }> {
  const [id, period] = await needs.ids.many(orgId, 2)
  const secret = newWebhookSecret()
  const sealedSecret = needs.seal.close(secret, sealedFor(orgId, id!))
  const at = now(needs.clock)
  const webhook = await needs.db.inOrganization(orgId, async (tx) => {
    const { isLapsed } = await lockStanding(tx, orgId)
    const isDelivering = draft.isEnabled && !isLapsed
    const made = {
      ...draft,
      id: id!,
      sealedSecret,
      createdAt: at,
      updatedAt: at,
      period: isDelivering ? period! : null,
    }
    await insertWebhook(tx, orgId, made)
    await enlist(tx, orgId, isDelivering)
    return made
  })
  await needs.wake.announce(changeTopic, String(orgId))
  return { webhook, secret }
}

async function ownWebhook(db: Db, orgId: number, id: number): Promise<Webhook> {
  const webhook = await findWebhook(db, orgId)
  if (webhook?.id !== id) throw refuse.notFound('Webhook')
  return webhook
}

export const getWebhook = (needs: Pick<WebhookNeeds, 'db'>, orgId: number, id: number): Promise<Webhook> =>
  ownWebhook(needs.db.read, orgId, id)

/** Only what is given changes. Switching on begins a new period; what was recorded in between stays undelivered. */
export async function changeWebhook(
  needs: WebhookNeeds,
  orgId: number,
  id: number,
  change: { url?: string | undefined; isEnabled?: boolean | undefined },
): Promise<Webhook> {
  const fresh = await needs.ids.next(orgId)
  const webhook = await needs.db.inOrganization(orgId, async (tx) => {
    const { isLapsed } = await lockStanding(tx, orgId)
    const current = await ownWebhook(tx, orgId, id)
    const { url = current.url, isEnabled = current.isEnabled } = change
    const period = isEnabled && !isLapsed ? (current.period ?? fresh) : null
    const changed = { ...current, url, isEnabled, period, updatedAt: nextUpdate(needs.clock, current.updatedAt) }
    await updateWebhook(tx, orgId, changed, changed.updatedAt)
    await enlist(tx, orgId, period !== null)
    return changed
  })
  await settle(needs, orgId)
  return webhook
}

export async function removeWebhook(needs: WebhookNeeds, orgId: number, id: number): Promise<void> {
  const isGone = await needs.db.inOrganization(orgId, async (tx) => {
    await lockStanding(tx, orgId)
    if (!(await deleteWebhook(tx, orgId, id))) return false
    await enlist(tx, orgId, false)
    return true
  })
  if (!isGone) throw refuse.notFound('Webhook')
  await settle(needs, orgId)
}

/** From here on the organization's events are dropped (D42). */
export async function lapseOrganization(needs: WebhookNeeds, orgId: number): Promise<void> {
  await needs.db.inOrganization(orgId, async (tx) => {
    await lockStanding(tx, orgId)
    await setLapsed(tx, orgId, now(needs.clock))
    await setPeriod(tx, orgId, null)
    await enlist(tx, orgId, false)
  })
  await settle(needs, orgId)
}

/** From here on new events are delivered again, where the webhook is switched on. */
export async function reinstateOrganization(needs: WebhookNeeds, orgId: number): Promise<void> {
  const period = await needs.ids.next(orgId)
  await needs.db.inOrganization(orgId, async (tx) => {
    await lockStanding(tx, orgId)
    await setLapsed(tx, orgId, null)
    if (await setPeriod(tx, orgId, period)) await enlist(tx, orgId, true)
  })
  await settle(needs, orgId)
}
