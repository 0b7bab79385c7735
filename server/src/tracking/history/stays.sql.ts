import type { Db } from '../../db/database.ts'
import { paginate } from '../../db/plan-cache.ts'
import { join, sql } from '../../db/sql.ts'
import { type Instant, fromDatabase, startOfMillisecond, toDatabase } from '../../kernel/instant.ts'
import { type Page, type PageRequest, toPage } from '../../kernel/page.ts'
import { minuteOf } from '../sighting.ts'
import { isObservedWithin } from '../time-bounds.sql.ts'

/** Consecutive minutes of an asset at one location. */
export interface Stay {
  locationId: number | null
  locationKey: string | null
  locationName: string | null
  /** The first sighting of the stay that is known; earlier ones may precede the period. */
  beganAt: Instant
  beganEarlier: boolean
  /** The first sighting elsewhere; null when there is none in the period. */
  endedAt: Instant | null
  lastSeenAt: Instant
  /** The minutes with a sighting, within the period. */
  minutes: number
  /** The latest notes of operators' saves, latest first. The save of a note may have been overridden within its minute. */
  notes: StayNote[]
}

interface StayNote {
  notedAt: Instant
  /** The operator's e-mail address; null when the user was deleted. */
  notedBy: string | null
  locationId: number | null
  locationName: string | null
  note: string
}

export interface StaysRequest extends PageRequest {
  from: Instant
  to: Instant
}

interface StayRow {
  total: number
  location_id: number | null
  location_key: string | null
  location_name: string | null
  began_at: string | null
  began_earlier: boolean
  ended_at: string | null
  last_seen_at: string
  minutes: number
  notes: string | null
}

interface StayNoteRow {
  noted_at: string
  noted_by: string | null
  location_id: number | null
  location_name: string | null
  note: string
}

const noteOf = (row: StayNoteRow): StayNote => ({
  notedAt: fromDatabase(row.noted_at),
  notedBy: row.noted_by,
  locationId: row.location_id,
  locationName: row.location_name,
  note: row.note,
})

/** The latest notes that are read with a stay, and with all stays of a page. */
export const maxNotesPerStay = 100
export const maxNotesPerPage = 1000

/** The stays of an asset in a period, latest first. The first one may have begun before, with the last sighting before it. */
export async function assetStays(db: Db, orgId: number, assetId: number, request: StaysRequest): Promise<Page<Stay>> {
  const from = startOfMillisecond(request.from)
  const ofAsset = sql`m.org_id = ${orgId} and m.asset_id = ${assetId}
    and m.minute >= coalesce((select history_from from counters), '-infinity')`
  const within = join([ofAsset, ...isObservedWithin(sql`m`, request)], sql` and `)
  const latest = sql`select * from stays order by began_at desc`
  const rows = await db.query<StayRow>(sql`
    with counters as (
      select history_from from asset_positions where org_id = ${orgId} and asset_id = ${assetId}
    ),
    earlier as (
      select m.minute, m.location_id, m.observed_at from asset_minutes m
      where ${ofAsset} and m.minute <= ${toDatabase(minuteOf(from))} and m.observed_at < ${toDatabase(from)}
      order by m.minute desc limit 1
    ),
    sightings as (
      select e.minute, e.location_id, e.observed_at, true as is_earlier from earlier e
      union all
      select m.minute, m.location_id, m.observed_at, false from asset_minutes m where ${within}
    ),
    marked as (
      select s.*, row_number() over (order by s.minute) = 1
        or lag(s.location_id) over (order by s.minute) is distinct from s.location_id as is_first
      from sightings s
    ),
    numbered as (select k.*, count(*) filter (where k.is_first) over (order by k.minute) as number from marked k),
    stays as materialized (
      select min(n.location_id) as location_id, min(n.observed_at) as began_at, max(n.observed_at) as last_seen_at,
        min(n.minute) as first_minute, lead(min(n.minute)) over (order by n.number) as next_minute,
        bool_or(n.is_earlier) as began_earlier, count(*) filter (where not n.is_earlier) as minutes,
        lead(min(n.observed_at)) over (order by n.number) as ended_at
      from numbered n group by n.number
    ),
    total as (select count(*) as total from stays),
    page as (${paginate(latest, request)}),
    noted as (
      select page.first_minute, s.minute, s.noted_at, s.user_id, s.location_id, s.note
      from page cross join lateral (
        select n.minute, n.noted_at, n.user_id, n.location_id, n.note from sighting_notes n
        where n.org_id = ${orgId} and n.asset_id = ${assetId} and n.minute >= page.first_minute
          and (page.next_minute is null or n.minute < page.next_minute)
        order by n.minute desc, n.noted_at desc limit ${maxNotesPerStay}
      ) s
      order by s.minute desc, s.noted_at desc limit ${maxNotesPerPage}
    )
    select total.total, page.location_id, page.began_at, page.last_seen_at, page.began_earlier, page.minutes, page.ended_at,
      l.external_key as location_key, l.name as location_name, notes.notes
    from total left join page on true
    left join locations l on l.org_id = ${orgId} and l.id = page.location_id and l.deleted_at is null
    left join lateral (
      select json_agg(json_build_object('noted_at', s.noted_at::text, 'noted_by', u.email, 'location_id', w.id,
        'location_name', w.name, 'note', s.note) order by s.noted_at desc) as notes
      from noted s
      left join users u on u.user_id = s.user_id
      left join locations w on w.org_id = ${orgId} and w.id = s.location_id and w.deleted_at is null
      where s.first_minute = page.first_minute
    ) notes on true
    order by page.began_at desc`)
  const stayOf = (row: StayRow, beganAt: string): Stay => ({
    locationId: row.location_id,
    locationKey: row.location_key,
    locationName: row.location_name,
    beganAt: fromDatabase(beganAt),
    beganEarlier: row.began_earlier,
    endedAt: row.ended_at === null ? null : fromDatabase(row.ended_at),
    lastSeenAt: fromDatabase(row.last_seen_at),
    minutes: row.minutes,
    notes: row.notes === null ? [] : (JSON.parse(row.notes) as StayNoteRow[]).map(noteOf),
  })
  return toPage(rows, (row) => (row.began_at === null ? null : stayOf(row, row.began_at)))
}
