import type { Connection } from '../db/create-database.ts'
import { type KeyStore, deleteSigningKeysExcept, makeCurrent } from '../db/installation.ts'
import type { PubSub } from '../db/pubsub.ts'

/** Published when the signing keys have changed. */
export const signingKeysTopic = 'signing-keys'

interface RotationDeps {
  db: Connection
  keyStore: KeyStore
  pubsub: PubSub
}

/**
 * Replaces the key that signs access tokens. Every process loads the new key before the first one signs with it, so that no
 * valid token is rejected. Tokens of the previous key stay valid until they expire, unless that key is discarded.
 */
export async function rotateSigningKey(
  { db, keyStore, pubsub }: RotationDeps,
  { isPreviousDiscarded }: { isPreviousDiscarded: boolean },
): Promise<{ kid: string; previous: string | null }> {
  const previous = (await keyStore.signingKeys(db)).find(({ isCurrent }) => isCurrent)?.kid ?? null
  const kid = await keyStore.addSigningKey(db)
  await pubsub.publishAndWait(signingKeysTopic, '')
  await makeCurrent(db, kid)
  await deleteSigningKeysExcept(db, isPreviousDiscarded || previous === null ? [kid] : [kid, previous])
  await pubsub.publishAndWait(signingKeysTopic, '')
  return { kid, previous }
}
