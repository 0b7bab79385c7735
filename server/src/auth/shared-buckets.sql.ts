import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** Capacity and refill rate of a bucket in thousandths of a token, so that the refill per millisecond is an integer. */
export interface BucketShape {
  capacity: number
  perMillisecond: number
}

const wholeToken = 1000

export interface ConsumeResultRow {
  clientId: string
  admitted: boolean
  millitokens: number
  filledAtMs: number
  revoked: boolean
}

/**
 * Takes a token from each of these buckets and returns what is left, in one statement that always writes: a statement that
 * waited for a row lock sees the value that the previous one wrote. Rows are locked in one order to avoid deadlocks. The
 * time of a bucket never goes back, even if the clocks of the processes differ.
 */
export async function consumeTokens(
  db: Db,
  clientIds: readonly string[],
  millis: number,
  { capacity, perMillisecond }: BucketShape,
): Promise<ConsumeResultRow[]> {
  const filled = sql`least(${capacity}::bigint,
    b.millitokens + ${perMillisecond}::bigint * greatest(0, excluded.filled_at_ms - b.filled_at_ms))`
  const rows = await db.query<
    Omit<ConsumeResultRow, 'clientId' | 'filledAtMs'> & { client_id: string; filled_at_ms: number }
  >(sql`
    insert into rate_buckets as b (client_id, millitokens, filled_at_ms, admitted, revoked)
    select u.client_id, ${capacity - wholeToken}::bigint, ${Math.floor(millis)}::bigint, true, false
    from unnest(${clientIds}::uuid[]) u (client_id) order by u.client_id
    on conflict (client_id) do update set
      admitted = ${filled} >= ${wholeToken},
      millitokens = ${filled} - case when ${filled} >= ${wholeToken} then ${wholeToken} else 0 end,
      filled_at_ms = greatest(b.filled_at_ms, excluded.filled_at_ms)
    returning client_id, admitted, millitokens, filled_at_ms, revoked`)
  return rows.map(({ client_id, filled_at_ms, ...row }) => ({
    clientId: client_id,
    filledAtMs: filled_at_ms,
    ...row,
  }))
}

/** Stores buckets from the memory of a process. If a bucket already exists, the lower number of tokens is kept. */
export async function putBuckets(
  db: Db,
  buckets: readonly { clientId: string; millitokens: number; filledAtMs: number }[],
): Promise<void> {
  await db.query(sql`
    insert into rate_buckets as b (client_id, millitokens, filled_at_ms, admitted, revoked)
    select client_id, millitokens, filled_at_ms, true, false
    from unnest(${buckets.map((one) => one.clientId)}::uuid[], ${buckets.map((one) => one.millitokens)}::bigint[],
      ${buckets.map((one) => one.filledAtMs)}::bigint[]) u (client_id, millitokens, filled_at_ms)
    on conflict (client_id) do update set
      millitokens = least(b.millitokens, excluded.millitokens),
      filled_at_ms = greatest(b.filled_at_ms, excluded.filled_at_ms)`)
}

/** Marks the bucket as revoked, so that every process rejects the next request of the credential. */
export async function closeBucket(db: Db, clientId: string, millis: number): Promise<void> {
  await db.query(sql`
    insert into rate_buckets as b (client_id, millitokens, filled_at_ms, admitted, revoked)
    values (${clientId}, 0, ${Math.floor(millis)}, false, true)
    on conflict (client_id) do update set revoked = true`)
}

export async function dropIdleBuckets(db: Db, beforeMillis: number): Promise<void> {
  await db.query(sql`delete from rate_buckets where filled_at_ms < ${Math.floor(beforeMillis)}`)
}
