import type { Db } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { type Instant, toDatabase } from '../../kernel/instant.ts'

/**
 * Every location, deleted ones included, with the ancestor that represents it in the report: the one at the given level
 * of the tree, or the location itself if it is not below that level. Top-level locations are level 0.
 */
export const rolledUp = (orgId: number, level: number): Sql => sql`
  tree as (
    select l.id, 0 as depth, l.id as group_id from locations l where l.org_id = ${orgId} and l.parent_id is null
    union all
    select c.id, t.depth + 1, case when t.depth < ${level}::int then c.id else t.group_id end
    from tree t join locations c on c.org_id = ${orgId} and c.parent_id = t.id
  )`

/** The rows of a report that counts per location or pair of locations: those with the largest numbers. */
export const maxReportRows = 1000

export interface Dwell {
  locationId: number
  externalKey: string | null
  name: string
  minutes: number
  assets: number
  visits: number
}

/**
 * How long assets stayed at each location between two instants. A stay lasts from the move to the location until the
 * asset's next move or its deletion. An asset that was there before the first instant counts from that instant on.
 * Locations below the level are rolled up: a move between two locations of one group does not end the stay.
 *
 * An asset that did not move after the first instant was at its present location throughout the period, so such assets are
 * only counted. Three kinds of assets are evaluated individually: those that moved since, those that were deleted since, and
 * those whose last scan has no location. At the first instant they were at the origin of their first move since or, if it has
 * none, at the location of their last move before.
 */
export async function dwellPerLocation(
  db: Db,
  orgId: number,
  from: Instant,
  to: Instant,
  level: number,
): Promise<Dwell[]> {
  const [begin, end] = [toDatabase(from), toDatabase(to)]
  const rows = await db.query<{
    id: number
    external_key: string | null
    name: string
    minutes: number
    assets: number
    visits: number
  }>(sql`
    with recursive ${rolledUp(orgId, level)},
    deleted as materialized (
      select a.id, a.deleted_at from assets a where a.org_id = ${orgId} and a.deleted_at is not null
    ),
    first_moves as materialized (
      select distinct on (m.asset_id) m.asset_id, m.from_location_id from moves m
      where m.org_id = ${orgId} and m.occurred_at >= ${begin}
      order by m.asset_id, m.occurred_at
    ),
    evaluated as materialized (
      select f.asset_id from first_moves f
      union
      select p.asset_id from asset_positions p where p.org_id = ${orgId} and p.location_id is null
      union
      select deleted.id from deleted where deleted.deleted_at > ${begin}
    ),
    stays as (
      select m.asset_id, target.group_id, m.occurred_at as begins from moves m
      join tree target on target.id = m.to_location_id left join tree origin on origin.id = m.from_location_id
      where m.org_id = ${orgId} and m.occurred_at >= ${begin} and m.occurred_at < ${end}
        and origin.group_id is distinct from target.group_id
      union all
      select b.asset_id, target.group_id, ${begin}::timestamptz
      from (
        select f.asset_id, f.from_location_id as location_id from first_moves f where f.from_location_id is not null
        union all
        select s.asset_id, m.to_location_id
        from (select evaluated.asset_id from evaluated except
          select f.asset_id from first_moves f where f.from_location_id is not null) s
        cross join lateral (
          select m.to_location_id from moves m
          where m.org_id = ${orgId} and m.asset_id = s.asset_id and m.occurred_at < ${begin}
          order by m.occurred_at desc limit 1
        ) m
      ) b
      join tree target on target.id = b.location_id
    ),
    timed as (
      select s.asset_id, s.group_id, least(d.deleted_at,
        lead(s.begins, 1, ${end}::timestamptz) over (partition by s.asset_id order by s.begins)) - s.begins as stayed
      from stays s left join deleted d on d.id = s.asset_id
    ),
    positions as (
      select p.location_id, count(*) as assets from asset_positions p
      where p.org_id = ${orgId} and p.location_id is not null group by p.location_id
    ),
    excluded_positions as (
      select p.location_id, count(*) as assets
      from (select evaluated.asset_id from evaluated union select deleted.id from deleted) o
      cross join lateral (
        select q.location_id from asset_positions q where q.org_id = ${orgId} and q.asset_id = o.asset_id offset 0
      ) p
      group by p.location_id
    ),
    unmoved as (
      select tree.group_id, sum(positions.assets - coalesce(excluded_positions.assets, 0)) as assets
      from positions join tree on tree.id = positions.location_id
      left join excluded_positions on excluded_positions.location_id = positions.location_id
      group by tree.group_id
    ),
    counted as (
      select t.group_id, sum(extract(epoch from t.stayed)) as seconds, count(distinct t.asset_id) as assets,
        count(*) as visits
      from timed t where t.stayed > interval '0' group by t.group_id
      union all
      select unmoved.group_id, unmoved.assets * extract(epoch from ${end}::timestamptz - ${begin}::timestamptz),
        unmoved.assets, unmoved.assets
      from unmoved where unmoved.assets > 0 and ${end}::timestamptz > ${begin}::timestamptz
    )
    select l.id, case when l.deleted_at is null then l.external_key end as external_key, l.name,
      floor(sum(c.seconds) / 60)::bigint as minutes, sum(c.assets)::bigint as assets, sum(c.visits)::bigint as visits
    from counted c join locations l on l.org_id = ${orgId} and l.id = c.group_id
    group by l.id, l.external_key, l.name, l.deleted_at order by minutes desc, l.id limit ${maxReportRows}`)
  return rows.map(({ id, external_key: externalKey, ...rest }) => ({ locationId: id, externalKey, ...rest }))
}

export interface Flow {
  from: { id: number; name: string } | null
  to: { id: number; name: string }
  moves: number
}

/**
 * How often assets moved from one location to another between two instants, most frequent pairs first. Locations below the
 * level are rolled up; moves within one group are not counted.
 */
export async function flowBetween(db: Db, orgId: number, from: Instant, to: Instant, level: number): Promise<Flow[]> {
  const rows = await db.query<{
    from_location_id: number | null
    from_name: string | null
    to_location_id: number
    to_name: string
    moves: number
  }>(sql`
    with recursive ${rolledUp(orgId, level)},
    counted as (
      select origin.group_id as from_location_id, target.group_id as to_location_id, sum(c.moves)::bigint as moves
      from (
        select m.from_location_id, m.to_location_id, count(*) as moves from moves m
        where m.org_id = ${orgId} and m.occurred_at >= ${toDatabase(from)} and m.occurred_at < ${toDatabase(to)}
        group by m.from_location_id, m.to_location_id
      ) c
      join tree target on target.id = c.to_location_id left join tree origin on origin.id = c.from_location_id
      where origin.group_id is distinct from target.group_id
      group by 1, 2
      order by moves desc, 2, 1 limit ${maxReportRows}
    )
    select c.from_location_id, o.name as from_name, c.to_location_id, t.name as to_name, c.moves
    from counted c join locations t on t.org_id = ${orgId} and t.id = c.to_location_id
    left join locations o on o.org_id = ${orgId} and o.id = c.from_location_id
    order by c.moves desc, c.to_location_id, c.from_location_id`)
  return rows.map((row) => ({
    from: row.from_location_id === null ? null : { id: row.from_location_id, name: row.from_name ?? '' },
    to: { id: row.to_location_id, name: row.to_name },
    moves: row.moves,
  }))
}
