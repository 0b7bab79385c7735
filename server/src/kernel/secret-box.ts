import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const ivBytes = 12
const tagBytes = 16

/**
 * Keeps a secret that must be used again: encrypted with a key of the installation, and bound to the row it stands in,
 * so that it opens nowhere else.
 */
export class SecretBox {
  readonly #key: Uint8Array

  constructor(installationKey: Uint8Array, purpose: string) {
    this.#key = new Uint8Array(hkdfSync('sha256', installationKey, '', `lastseen ${purpose}`, 32))
  }

  encrypt(secret: string, row: string): Buffer {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(row))
    const hidden = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), hidden])
  }

  /** Throws when it was made with another key or for another row. */
  decrypt(sealed: Uint8Array, row: string): string {
    const iv = sealed.subarray(0, ivBytes)
    const decipher = createDecipheriv('aes-256-gcm', this.#key, iv, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(row)).setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes))
    const shown = decipher.update(sealed.subarray(ivBytes + tagBytes))
    return Buffer.concat([shown, decipher.final()]).toString('utf8')
  }
}
