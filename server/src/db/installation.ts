import { randomBytes } from 'node:crypto'
import { SecretBox } from '../kernel/secret-box.ts'
import type { Database, Db, Tx } from './database.ts'
import { sql } from './sql.ts'

/** A key that signs access tokens, named by the `kid` in their header. */
export interface SigningKey {
  kid: string
  key: Uint8Array
  isCurrent: boolean
}

/** The keys shared by all processes of one installation. */
export interface InstallationKeys {
  /** Encrypts consecutive numbers into ids that cannot be guessed. */
  idKey: Uint8Array
  /** Encrypts the secrets of webhooks. */
  secretKey: Uint8Array
  signingKeys: readonly SigningKey[]
}

interface StoredKey {
  key: Uint8Array
  is_encrypted: boolean
}

type StoredSigningKey = StoredKey & { kid: string; is_current: boolean }

const secretKeyRow = 'secret key'
const signingKeyRow = (kid: string): string => `signing key ${kid}`

/** Encrypts the keys of the installation with the operator's master key; without one they are stored unencrypted. */
export class KeyStore {
  readonly #masterBox: SecretBox | null

  constructor(masterKey: Uint8Array | null) {
    this.#masterBox = masterKey === null ? null : new SecretBox(masterKey, 'installation keys')
  }

  /** Creates missing keys and encrypts keys that were stored before a master key was set. */
  open(db: Database): Promise<InstallationKeys> {
    return db.globalTransaction(async (tx) => {
      await tx.query(sql`
        insert into installation (only_row, id_key, secret_key, next_block)
        values (true, ${randomBytes(16)}, ${randomBytes(32)}, 0)
        on conflict (only_row) do nothing`)
      const [row] = await tx.query<StoredKey & { id_key: Uint8Array }>(sql`
        select id_key, secret_key as key, is_encrypted from installation where only_row for update`)
      if (row === undefined) throw new Error('the installation row is missing')
      const secretKey = this.#decrypt(row, secretKeyRow)
      const stored = await readSigningKeys(tx)
      if (this.#masterBox !== null) await this.#encryptStored(tx, row, stored)
      if (stored.length === 0) await this.#insert(tx, true)
      return { idKey: row.id_key, secretKey, signingKeys: await this.#signingKeys(tx) }
    })
  }

  signingKeys(db: Database): Promise<SigningKey[]> {
    return this.#signingKeys(db.global)
  }

  /** Adds a key that verifies tokens but does not sign them until it becomes the current one. */
  addSigningKey(db: Database): Promise<string> {
    return this.#insert(db.global, false)
  }

  async #signingKeys(db: Db): Promise<SigningKey[]> {
    return (await readSigningKeys(db)).map((row) => ({
      kid: row.kid,
      key: this.#decrypt(row, signingKeyRow(row.kid)),
      isCurrent: row.is_current,
    }))
  }

  async #insert(db: Db, isCurrent: boolean): Promise<string> {
    const kid = randomBytes(6).toString('hex')
    const key = this.#encrypt(randomBytes(32), signingKeyRow(kid))
    await db.query(sql`
      insert into signing_keys (kid, key, is_encrypted, is_current)
      values (${kid}, ${key}, ${this.#masterBox !== null}, ${isCurrent})`)
    return kid
  }

  async #encryptStored(tx: Tx, secret: StoredKey, signingKeys: readonly StoredSigningKey[]): Promise<void> {
    if (!secret.is_encrypted)
      await tx.query(sql`
        update installation set secret_key = ${this.#encrypt(secret.key, secretKeyRow)}, is_encrypted = true
        where only_row`)
    for (const { kid, key, is_encrypted: isEncrypted } of signingKeys)
      if (!isEncrypted)
        await tx.query(sql`
          update signing_keys set key = ${this.#encrypt(key, signingKeyRow(kid))}, is_encrypted = true
          where kid = ${kid}`)
  }

  #encrypt(key: Uint8Array, row: string): Uint8Array {
    return this.#masterBox?.encrypt(Buffer.from(key).toString('base64'), row) ?? key
  }

  #decrypt({ key, is_encrypted: isEncrypted }: StoredKey, row: string): Uint8Array {
    if (!isEncrypted) return key
    if (this.#masterBox === null)
      throw new Error(
        'The keys of this installation are encrypted with a master key: set LASTSEEN_MASTER_KEY or LASTSEEN_MASTER_KEY_FILE.',
      )
    try {
      return Buffer.from(this.#masterBox.decrypt(key, row), 'base64')
    } catch (error) {
      throw new Error('The keys of this installation were encrypted with another LASTSEEN_MASTER_KEY.', {
        cause: error,
      })
    }
  }
}

const readSigningKeys = (db: Db): Promise<StoredSigningKey[]> =>
  db.query<StoredSigningKey>(sql`select kid, key, is_encrypted, is_current from signing_keys order by created_at`)

/** New tokens are signed with this key; the previous keys still verify. */
export async function makeCurrent(db: Database, kid: string): Promise<void> {
  await db.globalTransaction(async (tx) => {
    await tx.query(sql`update signing_keys set is_current = false where is_current`)
    await tx.query(sql`update signing_keys set is_current = true where kid = ${kid}`)
  })
}

/** Deletes all other keys, which invalidates the tokens signed with them. */
export async function deleteSigningKeysExcept(db: Database, kids: readonly string[]): Promise<void> {
  await db.global.query(sql`delete from signing_keys where kid <> all(${kids}::text[])`)
}

export interface SigningKeyInfo {
  kid: string
  isCurrent: boolean
  isEncrypted: boolean
  createdAt: string
}

export const listSigningKeys = (db: Database): Promise<SigningKeyInfo[]> =>
  db.global.query<SigningKeyInfo>(sql`
    select kid, is_current as "isCurrent", is_encrypted as "isEncrypted", created_at as "createdAt"
    from signing_keys order by created_at desc`)
