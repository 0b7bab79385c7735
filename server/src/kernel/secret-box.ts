import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const ivBytes = 12
const tagBytes = 16

/**
 * Encrypts secrets that are stored and must be readable again. A secret is encrypted with a key of the installation and
 * bound to its database row, so that it cannot be decrypted in another row.
 */
export class SecretBox {
  readonly #key: Uint8Array

  constructor(installationKey: Uint8Array, purpose: string) {
    this.#key = new Uint8Array(hkdfSync('sha256', installationKey, '', `lastseen ${purpose}`, 32))
  }

  encrypt(secret: string, row: string): Buffer {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(row))
    const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), ciphertext])
  }

  /** Throws if the secret was encrypted with another key or for another row. */
  decrypt(encrypted: Uint8Array, row: string): string {
    const iv = encrypted.subarray(0, ivBytes)
    const decipher = createDecipheriv('aes-256-gcm', this.#key, iv, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(row)).setAuthTag(encrypted.subarray(ivBytes, ivBytes + tagBytes))
    const plaintext = decipher.update(encrypted.subarray(ivBytes + tagBytes))
    return Buffer.concat([plaintext, decipher.final()]).toString('utf8')
  }
}
