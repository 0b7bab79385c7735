import type { Database } from '../db/database.ts'
import type { IdGenerator } from '../db/id-generator.ts'
import type { PubSub } from '../db/pubsub.ts'
import { type Clock, now } from '../kernel/clock.ts'
import type { QuotaCheck } from '../kernel/quota.ts'
import { hashSecret, newClientSecret, newUuid } from '../kernel/secrets.ts'
import type { Credential, CredentialDraft, Minted } from './credential.ts'
import { insertCredentials, revokeCredentialRow } from './credentials.sql.ts'
import { closeBucket } from './shared-buckets.sql.ts'

interface MintDeps {
  db: Database
  clock: Clock
  ids: IdGenerator
  quotas: QuotaCheck
  environment: string
}

/** Creates `count` credentials with the same name, scopes and expiry. */
export async function mintCredentials(
  { db, clock, ids, quotas, environment }: MintDeps,
  orgId: number,
  draft: CredentialDraft,
  count: number,
): Promise<Minted[]> {
  await quotas.assertRoom(orgId, 'api_keys', count)
  const createdAt = now(clock)
  const newIds = await ids.nextMany(orgId, count)
  const minted = newIds.map((id) => {
    const credential: Credential = { ...draft, id, clientId: newUuid(), createdAt, revokedAt: null, lastUsedAt: null }
    return { credential, clientSecret: newClientSecret() }
  })
  const rows = minted.map((one) => ({ credential: one.credential, secretHash: hashSecret(one.clientSecret) }))
  await db.withTenant(orgId, (tx) => insertCredentials(tx, orgId, environment, rows))
  return minted
}

export const revocationTopic = 'revoked'

/**
 * Waits until every process has removed these credentials or sessions from its cache. They are sent in batches, because a
 * notification is limited to 8000 bytes.
 */
export async function publishRevocations(
  pubsub: Pick<PubSub, 'publishAndWait'>,
  keys: readonly string[],
): Promise<void> {
  for (let start = 0; start < keys.length; start += 200)
    await pubsub.publishAndWait(revocationTopic, keys.slice(start, start + 200).join(','))
}

/** Revokes a credential. From the next request on, every process rejects its tokens. */
export async function revokeCredential(
  { db, clock, pubsub }: { db: Database; clock: Clock; pubsub: Pick<PubSub, 'publishAndWait'> },
  orgId: number,
  by: { id: number } | { clientId: string },
): Promise<boolean> {
  const clientId = await db.withTenant(orgId, (tx) => revokeCredentialRow(tx, orgId, by, now(clock)))
  if (clientId === null) return false
  await closeBucket(db.global, clientId, clock.millis())
  await publishRevocations(pubsub, [clientId])
  return true
}
