import type { Connection } from '../db/connect.ts'
import { type KeyStore, deleteSigningKeysExcept, makeCurrent } from '../db/installation.ts'
import type { Wake } from '../db/wake.ts'

/** Announced when the signing keys have changed. */
export const signingKeysTopic = 'signing-keys'

interface RotationNeeds {
  db: Connection
  keyStore: KeyStore
  wake: Wake
}

/**
 * Replaces the key that signs access tokens. Every process can verify the new key before the first one signs with it, so no
 * token is refused meanwhile. Tokens of the key before it stay valid until they expire, unless it is discarded.
 */
export async function rotateSigningKey(
  { db, keyStore, wake }: RotationNeeds,
  { isPreviousDiscarded }: { isPreviousDiscarded: boolean },
): Promise<{ kid: string; previous: string | null }> {
  const previous = (await keyStore.signingKeys(db)).find(({ isCurrent }) => isCurrent)?.kid ?? null
  const kid = await keyStore.addSigningKey(db)
  await wake.announce(signingKeysTopic, '')
  await makeCurrent(db, kid)
  await deleteSigningKeysExcept(db, isPreviousDiscarded || previous === null ? [kid] : [kid, previous])
  await wake.announce(signingKeysTopic, '')
  return { kid, previous }
}
