import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** What a bucket holds and gains, in thousandths of a token, so that milliseconds of refill add up exactly. */
export interface BucketShape {
  capacity: number
  perMillisecond: number
}

const wholeToken = 1000

/**
 * Draws one token and says what is left, in one statement that always writes: whoever waits for the row's lock decides
 * on what the one before left. Time only moves forward for a bucket, whatever the clocks of the processes say.
 */
export async function drawToken(
  db: Db,
  clientId: string,
  millis: number,
  { capacity, perMillisecond }: BucketShape,
): Promise<{ admitted: boolean; millitokens: number; revoked: boolean }> {
  const filled = sql`least(${capacity}::bigint,
    b.millitokens + ${perMillisecond}::bigint * greatest(0, excluded.filled_at_ms - b.filled_at_ms))`
  const [row] = await db.query<{ admitted: boolean; millitokens: number; revoked: boolean }>(sql`
    insert into rate_buckets as b (client_id, millitokens, filled_at_ms, admitted, revoked)
    values (${clientId}, ${capacity - wholeToken}, ${Math.floor(millis)}, true, false)
    on conflict (client_id) do update set
      admitted = ${filled} >= ${wholeToken},
      millitokens = ${filled} - case when ${filled} >= ${wholeToken} then ${wholeToken} else 0 end,
      filled_at_ms = greatest(b.filled_at_ms, excluded.filled_at_ms)
    returning admitted, millitokens, revoked`)
  return row!
}

/** Takes over buckets that lived elsewhere; where both are known, the one with less in it counts. */
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

/** Every process that draws learns of a revocation at that very request. */
export async function closeBucket(db: Db, clientId: string, millis: number): Promise<void> {
  await db.query(sql`
    insert into rate_buckets as b (client_id, millitokens, filled_at_ms, admitted, revoked)
    values (${clientId}, 0, ${Math.floor(millis)}, false, true)
    on conflict (client_id) do update set revoked = true`)
}

export async function dropIdleBuckets(db: Db, beforeMillis: number): Promise<void> {
  await db.query(sql`delete from rate_buckets where filled_at_ms < ${Math.floor(beforeMillis)}`)
}
