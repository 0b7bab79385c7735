import { LRUCache } from 'lru-cache'
import { IdCipher } from '../kernel/id-cipher.ts'

import type { Database } from './database.ts'
import { sql } from './sql.ts'

const blockSize = 1024

interface Block {
  next: number
  end: number
}

/**
 * Generates ids that are unique across organizations and processes without a query per id: a process reserves a block
 * of numbers for one organization and encrypts them. Because a block belongs to one organization, a process that has
 * the key can derive the organization from an id.
 */
export class IdGenerator {
  readonly #db: Database
  readonly #cipher: IdCipher
  readonly #blocks = new Map<number, Block>()
  readonly #pending = new Map<number, Promise<void>>()
  readonly #owners = new LRUCache<number, number>({ max: 50_000 })

  constructor(db: Database, key: Uint8Array) {
    this.#db = db
    this.#cipher = new IdCipher(key)
  }

  /** Organization 0 is the installation itself: the ids of organizations and users come from its blocks. */
  async next(orgId: number): Promise<number> {
    for (;;) {
      const block = this.#blocks.get(orgId)
      if (block !== undefined && block.next < block.end) return this.#cipher.encrypt(++block.next)
      await this.#refill(orgId)
    }
  }

  async nextMany(orgId: number, count: number): Promise<number[]> {
    const ids: number[] = []
    while (ids.length < count) ids.push(await this.next(orgId))
    return ids
  }

  /** The organization an id was generated for, or null when this installation did not generate it. */
  async ownerOf(id: number): Promise<number | null> {
    const block = Math.floor((this.#cipher.decrypt(id) - 1) / blockSize)
    const known = this.#owners.get(block)
    if (known !== undefined) return known
    const [row] = await this.#db.read.query<{ org_id: number }>(
      sql`select org_id from id_blocks where block = ${block}`,
    )
    // A missing block may be reserved at any time, so only existing blocks are cached.
    if (row !== undefined) this.#owners.set(block, row.org_id)
    return row?.org_id ?? null
  }

  #refill(orgId: number): Promise<void> {
    const pending = this.#pending.get(orgId)
    if (pending !== undefined) return pending
    const reserving = this.#reserveBlock(orgId).finally(() => this.#pending.delete(orgId))
    this.#pending.set(orgId, reserving)
    return reserving
  }

  async #reserveBlock(orgId: number): Promise<void> {
    const block = await this.#db.globalTransaction(async (tx) => {
      const [reserved] = await tx.query<{ block: number }>(
        sql`update installation set next_block = next_block + 1 where only_row returning next_block - 1 as block`,
      )
      if (reserved === undefined) throw new Error('the installation row is missing')
      await tx.query(sql`insert into id_blocks (block, org_id) values (${reserved.block}, ${orgId})`)
      return reserved.block
    })
    this.#blocks.set(orgId, { next: block * blockSize, end: (block + 1) * blockSize })
  }
}
