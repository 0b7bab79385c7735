import { randomBytes } from 'node:crypto'
import type { Database } from './database.ts'
import { sql } from './sql.ts'

export interface InstallationKeys {
  idKey: Uint8Array
  signingKey: Uint8Array
}

/** The keys every process of one installation shares, made once by whichever process comes first. */
export async function installationKeys(db: Database): Promise<InstallationKeys> {
  const [row] = await db.shared(async (tx) => {
    await tx.query(sql`
      insert into installation (only_row, id_key, signing_key, next_block)
      values (true, ${randomBytes(16)}, ${randomBytes(32)}, 0)
      on conflict (only_row) do nothing`)
    return tx.query<{ id_key: Uint8Array; signing_key: Uint8Array }>(
      sql`select id_key, signing_key from installation where only_row`,
    )
  })
  if (row === undefined) throw new Error('the installation row is missing')
  return { idKey: row.id_key, signingKey: row.signing_key }
}
