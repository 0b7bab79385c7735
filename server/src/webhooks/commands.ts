import type { Database, Db } from '../db/database.ts'
import type { IdGenerator } from '../db/id-generator.ts'
import { type Clock, nextUpdate, now } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import type { SecretBox } from '../kernel/secret-box.ts'
import { newWebhookSecret } from '../kernel/secrets.ts'
import { setLapsed } from '../organizations/organizations.sql.ts'
import { deleteExpired } from './outbox.sql.ts'
import { type Webhook, secretContext } from './webhook.ts'
import {
  deleteWebhook,
  addToDirectory,
  findWebhook,
  insertWebhook,
  lockStanding,
  setGeneration,
  updateWebhook,
} from './webhooks.sql.ts'

export interface WebhookDeps {
  db: Database
  clock: Clock
  ids: IdGenerator
  secretBox: SecretBox
  /** `publishAndWait` resolves when every process has handled the change. */
  pubsub: { publishAndWait(topic: string, payload: string): Promise<void> }
  onDropped: OnDropped
}

/**
 * Why an event was not delivered: it was not claimed in time, delivery was switched off, no attempt succeeded, or the
 * process was stopped.
 */
type DropReason = 'late' | 'switched_off' | 'failed' | 'stopped'

export type OnDropped = (reason: DropReason, events: number) => void

export const changeTopic = 'webhook-changed'

/** An event that was not claimed for this long is dropped. */
export const staleMs = 10 * 60_000

/** When this resolves, no event that was recorded before the change is delivered any more. */
async function applyChange(deps: WebhookDeps, orgId: number): Promise<void> {
  await deps.pubsub.publishAndWait(changeTopic, String(orgId))
  await giveUpExpired(deps, orgId)
}

/** Drops expired events in batches. */
export async function giveUpExpired(
  { db, clock, onDropped }: Pick<WebhookDeps, 'db' | 'clock' | 'onDropped'>,
  orgId: number,
): Promise<void> {
  for (let isMore = true; isMore;) {
    const notBefore = instantFromMillis(clock.millis() - staleMs)
    const dropped = await db.withTenant(orgId, (tx) => deleteExpired(tx, orgId, notBefore))
    if (dropped.late > 0) onDropped('late', dropped.late)
    if (dropped.switchedOff > 0) onDropped('switched_off', dropped.switchedOff)
    isMore = dropped.isMore
  }
}

export async function createWebhook(
  deps: WebhookDeps,
  orgId: number,
  draft: { url: string; isEnabled: boolean },
): Promise<{ webhook: Webhook; secret: string }> {
  const [id, generation] = await deps.ids.nextMany(orgId, 2)
  const secret = newWebhookSecret()
  const encryptedSecret = deps.secretBox.encrypt(secret, secretContext(orgId, id!))
  const at = now(deps.clock)
  const webhook = await deps.db.withTenant(orgId, async (tx) => {
    const { isLapsed } = await lockStanding(tx, orgId)
    const isDelivering = draft.isEnabled && !isLapsed
    const created = {
      ...draft,
      id: id!,
      encryptedSecret,
      createdAt: at,
      updatedAt: at,
      generation: isDelivering ? generation! : null,
    }
    await insertWebhook(tx, orgId, created)
    await addToDirectory(tx, orgId, isDelivering)
    return created
  })
  await deps.pubsub.publishAndWait(changeTopic, String(orgId))
  return { webhook, secret }
}

async function ownWebhook(db: Db, orgId: number, id: number): Promise<Webhook> {
  const webhook = await findWebhook(db, orgId)
  if (webhook?.id !== id) throw apiError.notFound('Webhook')
  return webhook
}

export const getWebhook = (deps: Pick<WebhookDeps, 'db'>, orgId: number, id: number): Promise<Webhook> =>
  ownWebhook(deps.db.read, orgId, id)

/** Changes only the given fields. Enabling starts a new generation; events recorded while disabled are not delivered. */
export async function changeWebhook(
  deps: WebhookDeps,
  orgId: number,
  id: number,
  change: { url?: string | undefined; isEnabled?: boolean | undefined },
): Promise<Webhook> {
  const newGeneration = await deps.ids.next(orgId)
  const webhook = await deps.db.withTenant(orgId, async (tx) => {
    const { isLapsed } = await lockStanding(tx, orgId)
    const current = await ownWebhook(tx, orgId, id)
    const { url = current.url, isEnabled = current.isEnabled } = change
    const generation = isEnabled && !isLapsed ? (current.generation ?? newGeneration) : null
    const changed = { ...current, url, isEnabled, generation, updatedAt: nextUpdate(deps.clock, current.updatedAt) }
    await updateWebhook(tx, orgId, changed, changed.updatedAt)
    await addToDirectory(tx, orgId, generation !== null)
    return changed
  })
  await applyChange(deps, orgId)
  return webhook
}

export async function removeWebhook(deps: WebhookDeps, orgId: number, id: number): Promise<void> {
  const isDeleted = await deps.db.withTenant(orgId, async (tx) => {
    await lockStanding(tx, orgId)
    if (!(await deleteWebhook(tx, orgId, id))) return false
    await addToDirectory(tx, orgId, false)
    return true
  })
  if (!isDeleted) throw apiError.notFound('Webhook')
  await applyChange(deps, orgId)
}

/** Drops the organization's events from now on (D42). */
export async function lapseOrganization(deps: WebhookDeps, orgId: number): Promise<void> {
  await deps.db.withTenant(orgId, async (tx) => {
    await lockStanding(tx, orgId)
    await setLapsed(tx, orgId, now(deps.clock))
    await setGeneration(tx, orgId, null)
    await addToDirectory(tx, orgId, false)
  })
  await applyChange(deps, orgId)
}

/** Delivers new events again if the webhook is enabled. */
export async function reinstateOrganization(deps: WebhookDeps, orgId: number): Promise<void> {
  const generation = await deps.ids.next(orgId)
  await deps.db.withTenant(orgId, async (tx) => {
    await lockStanding(tx, orgId)
    await setLapsed(tx, orgId, null)
    if (await setGeneration(tx, orgId, generation)) await addToDirectory(tx, orgId, true)
  })
  await applyChange(deps, orgId)
}
