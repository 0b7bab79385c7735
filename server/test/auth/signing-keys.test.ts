import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rotateSigningKey } from '../../src/auth/signing-keys.ts'
import { KeyStore } from '../../src/db/installation.ts'
import { type TestApp, type TestOrg, startApp, useApp } from '../support/app.ts'
import { mintKey, tokensOf, useSql, whoAmI } from '../support/auth.ts'

const context = useApp()
const database = useSql(context)
const masterKey = Buffer.alloc(32, 7)

let other: TestApp
let org: TestOrg
beforeAll(async () => {
  other = await startApp({ sharesDatabaseWith: context.app })
  org = await context.app.newOrg()
})
afterAll(() => other.stop())

const kidOf = (token: string): string =>
  (JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid

const statuses = async (token: string): Promise<number[]> => [
  (await whoAmI(context.app, token)).status,
  (await whoAmI(other, token)).status,
]

describe('Rotating the signing key, with two processes', () => {
  it('makes both sign with the new key at once, and keeps tokens of the previous key valid', async () => {
    const key = await mintKey(org)
    const before = (await tokensOf(context.app, key)).access
    const { kid, previous } = await rotateSigningKey(other.context, { isPreviousDiscarded: false })
    expect(kidOf(before)).toBe(previous)
    for (const app of [context.app, other]) {
      const { access } = await tokensOf(app, key)
      expect(kidOf(access)).toBe(kid)
      expect(await statuses(access)).toEqual([200, 200])
    }
    expect(await statuses(before)).toEqual([200, 200])
  })

  it('keeps two keys', async () => {
    await rotateSigningKey(context.app.context, { isPreviousDiscarded: false })
    await rotateSigningKey(context.app.context, { isPreviousDiscarded: false })
    expect(await context.app.context.keyStore.signingKeys(context.app.context.db)).toHaveLength(2)
  })

  it('invalidates every access token of the previous key when that key is discarded, and no refresh token', async () => {
    const { access, refresh } = await tokensOf(context.app, await mintKey(org))
    expect(await statuses(access)).toEqual([200, 200])
    await rotateSigningKey(context.app.context, { isPreviousDiscarded: true })
    expect(await statuses(access)).toEqual([401, 401])
    const renewed = await other.anonymous('POST', '/api/v1/oauth/token', {
      json: { grant_type: 'refresh_token', refresh_token: refresh },
    })
    expect(renewed.status).toBe(200)
  })
})

describe('A master key', () => {
  it('encrypts the keys that the database holds, at the first start with it', async () => {
    const { db } = context.app.context
    const before = await new KeyStore(null).open(db)
    const keys = await new KeyStore(masterKey).open(db)
    expect(keys).toEqual(before)
    const stored = await database.sql<{ key: Uint8Array; is_encrypted: boolean }[]>`
      select secret_key as key, is_encrypted from installation
      union all select key, is_encrypted from signing_keys`
    expect(stored.length).toBeGreaterThan(1)
    for (const { key, is_encrypted: isEncrypted } of stored) {
      expect(isEncrypted).toBe(true)
      for (const plain of [keys.secretKey, ...keys.signingKeys.map((one) => one.key)])
        expect(Buffer.from(key).includes(Buffer.from(plain))).toBe(false)
    }
    expect(await new KeyStore(masterKey).open(db)).toEqual(keys)
  })

  it('is required at every later start', async () => {
    await expect(new KeyStore(null).open(context.app.context.db)).rejects.toThrow(
      'The keys of this installation are encrypted with a master key: set LASTSEEN_MASTER_KEY or LASTSEEN_MASTER_KEY_FILE.',
    )
  })

  it('must be the same at every start', async () => {
    await expect(new KeyStore(Buffer.alloc(32, 8)).open(context.app.context.db)).rejects.toThrow(
      'The keys of this installation were encrypted with another LASTSEEN_MASTER_KEY.',
    )
  })

  it('encrypts new signing keys as well', async () => {
    const kid = await new KeyStore(masterKey).addSigningKey(context.app.context.db)
    const [row] = await database.sql`select is_encrypted, is_current from signing_keys where kid = ${kid}`
    expect(row).toEqual({ is_encrypted: true, is_current: false })
  })
})
