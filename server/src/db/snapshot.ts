import type { Transactions, Tx } from './database.ts'
import { withCustomPlan } from './plan-cache.ts'

/**
 * Yields what `read` yields, within one read-only transaction: all statements see the data as of the first one. The
 * transaction ends when the consumer stops. Statements are planned for their values: with the plan for any limit, every batch
 * of an export would read all tags of the organization.
 */
export async function* inSnapshot<Item>(
  db: Transactions,
  orgId: number,
  read: (tx: Tx) => AsyncIterable<Item>,
): AsyncGenerator<Item> {
  let close: () => void = () => undefined
  const consumed = new Promise<void>((resolve) => (close = resolve))
  let ended: Promise<void> | undefined
  const tx = await new Promise<Tx>((resolve, reject) => {
    ended = db.withTenant(
      orgId,
      async (opened) => {
        await withCustomPlan(opened)
        resolve(opened)
        await consumed
      },
      { isSnapshot: true },
    )
    ended.catch(reject)
  })
  try {
    yield* read(tx)
  } finally {
    close()
    // A failure of the transaction has failed a statement of `read` already; a commit has nothing to write.
    await ended?.catch(() => undefined)
  }
}
