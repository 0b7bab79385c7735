import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { instantFromMillis, toDatabase } from '../kernel/instant.ts'

/**
 * Draws one token and says what is left, in one statement that always writes: whoever waits for the row's lock decides
 * on what the one before left. Time only moves forward for a bucket, whatever the clocks of the processes say.
 */
export async function drawToken(
  db: Db,
  clientId: string,
  millis: number,
  burst: number,
  refillPerSecond: number,
): Promise<{ admitted: boolean; tokens: number; revoked: boolean }> {
  const filled = sql`least(${burst}::float8,
    b.tokens + ${refillPerSecond}::float8 * greatest(0, extract(epoch from excluded.filled_at - b.filled_at)))`
  const [row] = await db.query<{ admitted: boolean; tokens: number; revoked: boolean }>(sql`
    insert into rate_buckets as b (client_id, tokens, filled_at, admitted, revoked)
    values (${clientId}, ${burst - 1}, ${toDatabase(instantFromMillis(millis))}, true, false)
    on conflict (client_id) do update set
      admitted = ${filled} >= 1,
      tokens = ${filled} - (${filled} >= 1)::int,
      filled_at = greatest(b.filled_at, excluded.filled_at)
    returning admitted, tokens, revoked`)
  return row!
}

/** Every process that draws learns of a revocation at that very request. */
export async function closeBucket(db: Db, clientId: string, millis: number): Promise<void> {
  await db.query(sql`
    insert into rate_buckets as b (client_id, tokens, filled_at, admitted, revoked)
    values (${clientId}, 0, ${toDatabase(instantFromMillis(millis))}, false, true)
    on conflict (client_id) do update set revoked = true`)
}

export async function dropIdleBuckets(db: Db, beforeMillis: number): Promise<void> {
  await db.query(sql`
    delete from rate_buckets where filled_at < ${toDatabase(instantFromMillis(beforeMillis))}`)
}
