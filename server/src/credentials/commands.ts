import type { Database } from '../db/database.ts'
import type { IdSource } from '../db/id-source.ts'
import type { Wake } from '../db/wake.ts'
import { type Clock, now } from '../kernel/clock.ts'
import type { QuotaCheck } from '../kernel/quota.ts'
import { hashSecret, newClientSecret, newUuid } from '../kernel/secrets.ts'
import type { Credential, CredentialDraft, Minted } from './credential.ts'
import { insertCredentials, revokeCredentialRow } from './credentials.sql.ts'
import { closeBucket } from './shared-buckets.sql.ts'

interface MintNeeds {
  db: Database
  clock: Clock
  ids: IdSource
  quotas: QuotaCheck
  environment: string
}

/** Makes credentials that differ in nothing but their identity. */
export async function mintCredentials(
  { db, clock, ids, quotas, environment }: MintNeeds,
  orgId: number,
  draft: CredentialDraft,
  count: number,
): Promise<Minted[]> {
  await quotas.assertRoom(orgId, 'api_keys', count)
  const createdAt = now(clock)
  const newIds = await ids.many(orgId, count)
  const minted = newIds.map((id) => {
    const credential: Credential = { ...draft, id, clientId: newUuid(), createdAt, revokedAt: null, lastUsedAt: null }
    return { credential, clientSecret: newClientSecret() }
  })
  const rows = minted.map((one) => ({ credential: one.credential, secretHash: hashSecret(one.clientSecret) }))
  await db.inOrganization(orgId, (tx) => insertCredentials(tx, orgId, environment, rows))
  return minted
}

export const revocationTopic = 'revoked'

/** Once this is over, every process has forgotten these credentials or sessions. A message holds at most 8000 bytes. */
export async function announceRevoked(wake: Pick<Wake, 'announce'>, keys: readonly string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += 200)
    await wake.announce(revocationTopic, keys.slice(start, start + 200).join(','))
}

/** From the next request on, nothing made with the credential is honoured, in any process. */
export async function revokeCredential(
  { db, clock, wake }: { db: Database; clock: Clock; wake: Pick<Wake, 'announce'> },
  orgId: number,
  by: { id: number } | { clientId: string },
): Promise<boolean> {
  const clientId = await db.inOrganization(orgId, (tx) => revokeCredentialRow(tx, orgId, by, now(clock)))
  if (clientId === null) return false
  await closeBucket(db.common, clientId, clock.millis())
  await announceRevoked(wake, [clientId])
  return true
}
