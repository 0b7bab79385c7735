import type { Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import { type Sighting, minuteOf } from './sighting.ts'

interface MinuteRow {
  asset_id: number
  minute: string
}

const minuteKey = (assetId: number, minute: Instant): string => `${assetId} ${minute}`

/** The sightings as rows `u (asset_id, minute, location_id, observed_at)`, in the order in which locks are taken. */
const unnested = (sightings: readonly Sighting[]): Sql => sql`unnest(
    ${sightings.map((one) => one.assetId)}::bigint[],
    ${sightings.map((one) => toDatabase(minuteOf(one.observedAt)))}::timestamptz[],
    ${sightings.map((one) => one.locationId)}::bigint[],
    ${sightings.map((one) => toDatabase(one.observedAt))}::timestamptz[]
  ) u (asset_id, minute, location_id, observed_at)`

/** Which of the sightings, given in order of asset and minute, are among the rows. */
function among(sightings: readonly Sighting[], rows: readonly MinuteRow[]): Sighting[] {
  const keys = new Set(rows.map((row) => minuteKey(row.asset_id, fromDatabase(row.minute))))
  return sightings.filter((one) => keys.has(minuteKey(one.assetId, minuteOf(one.observedAt))))
}

/** Gives each free minute to its sighting and says which got theirs. Nobody is displaced, so doing it again does nothing. */
export async function claimMinutes(
  tx: Tx,
  orgId: number,
  sightings: readonly Sighting[],
  source: 'reader' | 'operator',
): Promise<Sighting[]> {
  if (sightings.length === 0) return []
  const rows = await tx.query<MinuteRow>(sql`
    insert into asset_minutes as made (org_id, asset_id, minute, location_id, observed_at, source)
    select o.org_id, u.asset_id, u.minute, u.location_id, u.observed_at, ${source}::text
    from organizations o cross join ${unnested(sightings)}
    where o.org_id = ${orgId}
    order by u.asset_id, u.minute
    on conflict (org_id, asset_id, minute) do nothing
    returning asset_id, minute`)
  return among(sightings, rows)
}

/** An operator displaces whoever holds the minute, unless nothing would change. Says which minutes changed hands. */
export async function overrideMinutes(tx: Tx, orgId: number, sightings: readonly Sighting[]): Promise<Sighting[]> {
  if (sightings.length === 0) return []
  // An update takes its locks in any order; taken one after the other first, two saves never wait for each other.
  await tx.query(sql`
    select from ${unnested(sightings)} join asset_minutes m on m.asset_id = u.asset_id and m.minute = u.minute
    where m.org_id = ${orgId} order by m.asset_id, m.minute for no key update of m`)
  const rows = await tx.query<MinuteRow>(sql`
    update asset_minutes m set location_id = u.location_id, observed_at = u.observed_at, source = 'operator'
    from ${unnested(sightings)}
    where m.org_id = ${orgId} and m.asset_id = u.asset_id and m.minute = u.minute
      and m.location_id is distinct from u.location_id
    returning m.asset_id, m.minute`)
  return among(sightings, rows)
}
