import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import type { Webhook } from './webhook.ts'

interface WebhookRow {
  id: number
  url: string
  encrypted_secret: Uint8Array
  is_enabled: boolean
  generation: number | null
  created_at: string
  updated_at: string
}

const webhookOf = (row: WebhookRow): Webhook => ({
  id: row.id,
  url: row.url,
  isEnabled: row.is_enabled,
  encryptedSecret: row.encrypted_secret,
  generation: row.generation,
  createdAt: fromDatabase(row.created_at),
  updatedAt: fromDatabase(row.updated_at),
})

const columns = sql`id, url, encrypted_secret, is_enabled, generation, created_at, updated_at`

/** The organization's webhook; there is at most one. */
export async function findWebhook(db: Db, orgId: number): Promise<Webhook | null> {
  const [row] = await db.query<WebhookRow>(sql`select ${columns} from webhooks where org_id = ${orgId}`)
  return row === undefined ? null : webhookOf(row)
}

export async function listWebhooks(db: Db, orgId: number, page: PageRequest): Promise<Page<Webhook>> {
  const webhook = await findWebhook(db, orgId)
  const all = webhook === null ? [] : [webhook]
  return { rows: all.slice(page.offset, page.offset + page.limit), total: all.length }
}

/**
 * Every transaction that changes an organization's deliveries takes this lock first, so that changes to the webhook and to
 * the subscription run one after the other. Returns whether the subscription has lapsed.
 */
export async function lockStanding(tx: Tx, orgId: number): Promise<{ isLapsed: boolean }> {
  const [row] = await tx.query<{ is_lapsed: boolean }>(sql`
    select lapsed_at is not null as is_lapsed from organizations where org_id = ${orgId} for no key update`)
  return { isLapsed: row?.is_lapsed ?? true }
}

export async function insertWebhook(tx: Tx, orgId: number, webhook: Webhook): Promise<void> {
  await tx.query(sql`
    insert into webhooks (org_id, id, url, encrypted_secret, is_enabled, generation, created_at, updated_at)
    values (${orgId}, ${webhook.id}, ${webhook.url}, ${webhook.encryptedSecret}, ${webhook.isEnabled}, ${webhook.generation},
      ${toDatabase(webhook.createdAt)}, ${toDatabase(webhook.updatedAt)})`)
}

export async function updateWebhook(
  tx: Tx,
  orgId: number,
  webhook: Pick<Webhook, 'url' | 'isEnabled' | 'generation'>,
  at: Instant,
): Promise<void> {
  await tx.query(sql`
    update webhooks set url = ${webhook.url}, is_enabled = ${webhook.isEnabled}, generation = ${webhook.generation},
      updated_at = ${toDatabase(at)}
    where org_id = ${orgId}`)
}

/** Replaces the generation of an enabled webhook. Returns false when there is no enabled webhook. */
export async function setGeneration(tx: Tx, orgId: number, generation: number | null): Promise<boolean> {
  const updated = await tx.query(sql`
    update webhooks set generation = ${generation} where org_id = ${orgId} and is_enabled returning id`)
  return updated.length === 1
}

/** Adds the organization to the directory of delivery, or removes it. */
export async function addToDirectory(tx: Tx, orgId: number, isDelivering: boolean): Promise<void> {
  await tx.query(
    isDelivering
      ? sql`insert into webhook_directory (org_id) values (${orgId}) on conflict (org_id) do nothing`
      : sql`delete from webhook_directory where org_id = ${orgId}`,
  )
}

/** Returns whether the webhook existed. */
export async function deleteWebhook(tx: Tx, orgId: number, id: number): Promise<boolean> {
  const deleted = await tx.query(sql`delete from webhooks where org_id = ${orgId} and id = ${id} returning id`)
  return deleted.length === 1
}

export async function organizationsDeliveredTo(db: Db): Promise<number[]> {
  const rows = await db.query<{ org_id: number }>(sql`select org_id from webhook_directory order by org_id`)
  return rows.map((row) => row.org_id)
}
