import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, createDatabase } from '../../src/db/create-database.ts'
import { IdGenerator } from '../../src/db/id-generator.ts'
import { KeyStore } from '../../src/db/installation.ts'
import { sql } from '../../src/db/sql.ts'
import { IdCipher } from '../../src/kernel/id-cipher.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'

const keyStore = new KeyStore(null)
let database: TestDatabase
let connections: Connection[]
let sources: IdGenerator[]

beforeAll(async () => {
  database = await cloneDatabase()
  connections = [1, 2].map(() => createDatabase({ url: database.url, poolSize: 2 }))
  sources = await Promise.all(connections.map(async (db) => new IdGenerator(db, (await keyStore.open(db)).idKey)))
})

afterAll(async () => {
  await Promise.all(connections.map((db) => db.close()))
  await database.drop()
})

describe('Ids', () => {
  it('are unique over two processes and two organizations, at once (D12)', async () => {
    const taken = await Promise.all(sources.flatMap((source) => [1, 2].map((orgId) => source.nextMany(orgId, 3000))))
    const all = taken.flat()
    expect(all).toHaveLength(12_000)
    expect(new Set(all).size).toBe(12_000)
    for (const id of all) if (!Number.isSafeInteger(id) || id < 1) throw new Error(`out of range: ${id}`)
  })

  it('are unique when one process asks for many at the same moment', async () => {
    const [source] = sources
    const ids = await Promise.all(Array.from({ length: 2500 }, () => source!.next(3)))
    expect(new Set(ids).size).toBe(2500)
  })

  it('are not guessable from one another: consecutive ids are far apart and unordered (D12)', async () => {
    const ids = await sources[0]!.nextMany(4, 500)
    const steps = ids.slice(1).map((id, index) => id - ids[index]!)
    expect(steps.filter((step) => Math.abs(step) < 1_000_000)).toEqual([])
    const upward = steps.filter((step) => step > 0).length
    expect(upward).toBeGreaterThan(150)
    expect(upward).toBeLessThan(350)
    expect(new Set(steps).size).toBe(steps.length)
  })

  it('spread over the whole range', async () => {
    const ids = await sources[0]!.nextMany(4, 1000)
    const upperHalf = ids.filter((id) => id > Number.MAX_SAFE_INTEGER / 2).length
    expect(upperHalf).toBeGreaterThan(400)
    expect(upperHalf).toBeLessThan(600)
  })

  it('resolve to the organization they were created for, in every process', async () => {
    for (const orgId of [11, 12]) {
      const ids = await sources[0]!.nextMany(orgId, 1500)
      for (const id of [ids[0]!, ids[700]!, ids[1499]!])
        for (const source of sources) expect(await source.ownerOf(id)).toBe(orgId)
    }
  })

  it('that were never created do not resolve', async () => {
    for (const id of [1, 2, 5_000_000_000, Number.MAX_SAFE_INTEGER]) expect(await sources[0]!.ownerOf(id)).toBeNull()
  })

  it('that do not resolve do so as soon as another process creates them', async () => {
    const [reader, maker] = sources as [IdGenerator, IdGenerator]
    const cipher = new IdCipher((await keyStore.open(connections[0]!)).idKey)
    const [row] = await connections[0]!.globalTransaction((tx) =>
      tx.query<{ next_block: number }>(sql`select next_block from installation where only_row`),
    )
    const coming = cipher.encrypt(row!.next_block * 1024 + 1)
    expect(await reader.ownerOf(coming)).toBeNull()
    expect(await maker.next(21)).toBe(coming)
    expect(await reader.ownerOf(coming)).toBe(21)
  })
})

describe('The keys of an installation', () => {
  it('are created once by the first process and never change', async () => {
    const seen = await Promise.all([...connections, ...connections].map((db) => keyStore.open(db)))
    const texts = seen.map(({ idKey, secretKey, signingKeys }) =>
      [idKey, secretKey, ...signingKeys.map(({ key }) => key)].map((key) => Buffer.from(key).toString('hex')).join(),
    )
    expect(new Set(texts).size).toBe(1)
    expect([seen[0]!.idKey.length, seen[0]!.secretKey.length, seen[0]!.signingKeys.length]).toEqual([16, 32, 1])
  })

  it('are different in another installation', async () => {
    const other = await cloneDatabase()
    const db = createDatabase({ url: other.url, poolSize: 1 })
    const [mine, theirs] = [await keyStore.open(connections[0]!), await keyStore.open(db)]
    await db.close()
    await other.drop()
    expect(Buffer.from(theirs.secretKey).equals(Buffer.from(mine.secretKey))).toBe(false)
    expect(Buffer.from(theirs.idKey).equals(Buffer.from(mine.idKey))).toBe(false)
  })
})
