-- Version 4. A change of this file raises the version (docs/decisions/0011-repeatable-functions.md).
--
-- Functions that record sightings, so that a batch of reads takes one statement and one round trip. Each statement in a
-- function has its own snapshot. Locks are taken in this order: minutes, positions, first sightings, assets, counts. On
-- Citus the functions run on the coordinator, and each statement on the shard of the organization. They run with the role of
-- the caller, under row level security. The error code 'LS001' reports a concurrent change: the caller retries.

-- Counts the first sightings per day: those at the first instants are added, those at the former instants removed. A missing
-- instant is not counted. Days are updated in order, so that two transactions do not wait for each other.
create or replace function count_first_sightings(
  tenant_id bigint, changed_assets bigint[], former_instants timestamptz[], first_instants timestamptz[], live_assets bigint[]
) returns void language plpgsql as $$
declare
  count_days timestamptz[]; count_live bigint[]; count_deleted bigint[];
begin
  select array_agg(d.at_day), array_agg(d.live), array_agg(d.deleted) into count_days, count_live, count_deleted
  from (
    select date_trunc('day', c.instant, 'UTC') as at_day,
      coalesce(sum(c.change) filter (where c.asset in (select unnest(live_assets))), 0) as live,
      coalesce(sum(c.change) filter (where c.asset not in (select unnest(live_assets))), 0) as deleted
    from (
      select u.asset, u.instant, 1 as change from unnest(changed_assets, first_instants) u (asset, instant)
      union all
      select u.asset, u.instant, -1 from unnest(changed_assets, former_instants) u (asset, instant)
    ) c
    where c.instant is not null group by at_day
  ) d;
  insert into first_sighting_counts as stored (org_id, day, live, deleted)
  select o.org_id, u.at_day, u.live, u.deleted
  from organizations o cross join unnest(count_days, count_live, count_deleted) u (at_day, live, deleted)
  where o.org_id = tenant_id
  order by u.at_day
  on conflict (org_id, day) do update set live = stored.live + excluded.live, deleted = stored.deleted + excluded.deleted;
end $$;

-- Stores the first sighting of each asset, according to its history, and counts first sightings per day. The caller has
-- locked the positions of the assets. The lock on the assets decides whether an asset that is being deleted counts as live.
create or replace function correct_first_sightings(tenant_id bigint, given_assets bigint[]) returns void language plpgsql as $$
declare
  changed_assets bigint[]; former_instants timestamptz[]; first_instants timestamptz[];
  live_assets bigint[];
begin
  select array_agg(p.asset_id), array_agg(f.seen_at), array_agg(m.observed_at)
  into changed_assets, former_instants, first_instants
  from asset_positions p
  left join first_sightings f on f.org_id = tenant_id and f.asset_id = p.asset_id
  left join lateral (
    select n.observed_at from asset_minutes n
    where n.org_id = tenant_id and n.asset_id = p.asset_id and n.minute >= coalesce(p.history_from, '-infinity')
    order by n.minute limit 1
  ) m on true
  where p.org_id = tenant_id and p.asset_id = any (given_assets) and m.observed_at is distinct from f.seen_at;
  if changed_assets is null then return; end if;

  delete from first_sightings f using unnest(changed_assets, first_instants) u (asset, instant)
  where f.org_id = tenant_id and f.asset_id = u.asset and u.instant is null;
  insert into first_sightings (org_id, asset_id, seen_at)
  select o.org_id, u.asset, u.instant
  from organizations o cross join unnest(changed_assets, first_instants) u (asset, instant)
  where o.org_id = tenant_id and u.instant is not null
  order by u.asset
  on conflict (org_id, asset_id) do update set seen_at = excluded.seen_at;

  live_assets := array(
    select a.id from assets a
    where a.org_id = tenant_id and a.id = any (changed_assets) and a.deleted_at is null order by a.id for share);
  perform from count_first_sightings(tenant_id, changed_assets, former_instants, first_instants, live_assets);
end $$;

-- Counts moves per location and hour: a change of 1 adds the moves, a change of -1 removes them.
create or replace function count_location_moves(
  tenant_id bigint, origins bigint[], targets bigint[], instants timestamptz[], change integer
) returns void language plpgsql as $$
declare
  count_locations bigint[]; count_hours timestamptz[]; count_arrivals bigint[]; count_departures bigint[];
begin
  select array_agg(c.location), array_agg(c.at_hour), array_agg(c.arrivals * change), array_agg(c.departures * change)
  into count_locations, count_hours, count_arrivals, count_departures
  from (
    select e.location, date_trunc('hour', e.instant, 'UTC') as at_hour, count(*) filter (where e.is_arrival) as arrivals,
      count(*) filter (where not e.is_arrival) as departures
    from (
      select u.target as location, u.instant, true as is_arrival from unnest(targets, instants) u (target, instant)
      union all
      select u.origin, u.instant, false from unnest(origins, instants) u (origin, instant) where u.origin is not null
    ) e
    group by e.location, at_hour
  ) c;
  insert into location_move_counts as stored (org_id, location_id, hour, arrivals, departures)
  select o.org_id, u.location, u.at_hour, u.arrivals, u.departures
  from organizations o
  cross join unnest(count_locations, count_hours, count_arrivals, count_departures)
    u (location, at_hour, arrivals, departures)
  where o.org_id = tenant_id
  order by u.location, u.at_hour
  on conflict (org_id, location_id, hour) do update set
    arrivals = stored.arrivals + excluded.arrivals, departures = stored.departures + excluded.departures;
end $$;

-- Stores the departures that no move shows. The location 0 stands for none. A departure may be given twice.
create or replace function add_departures_without_move(
  tenant_id bigint, origins bigint[], minutes timestamptz[], gone_assets bigint[]
) returns void language plpgsql as $$
begin
  insert into departures_without_move (org_id, location_id, minute, asset_id)
  select o.org_id, coalesce(u.origin, 0), u.at_minute, u.asset
  from organizations o cross join unnest(origins, minutes, gone_assets) u (origin, at_minute, asset)
  where o.org_id = tenant_id
  order by 2, 3, 4
  on conflict (org_id, location_id, minute, asset_id) do nothing;
end $$;

-- A minute before the last known one emits no move. If its location differs from that of the minute before or after, this
-- function stores the departure between the two. The caller has locked the positions of the assets, so of two minutes that are
-- recorded concurrently, the second one finds the first.
create or replace function add_late_departures(tenant_id bigint, late_assets bigint[], late_minutes timestamptz[])
returns void language plpgsql as $$
declare
  gone_assets bigint[]; origins bigint[]; minutes timestamptz[];
begin
  select array_agg(d.asset), array_agg(d.origin), array_agg(d.at_minute) into gone_assets, origins, minutes
  from (
    select m.asset_id as asset, before.location_id as origin, m.minute as at_minute
    from unnest(late_assets, late_minutes) u (asset, at_minute)
    join asset_minutes m on m.org_id = tenant_id and m.asset_id = u.asset and m.minute = u.at_minute
    cross join lateral (
      select n.location_id from asset_minutes n
      where n.org_id = tenant_id and n.asset_id = u.asset and n.minute < u.at_minute order by n.minute desc limit 1
    ) before
    where before.location_id is distinct from m.location_id
    union
    select m.asset_id, m.location_id, after.minute
    from unnest(late_assets, late_minutes) u (asset, at_minute)
    join asset_minutes m on m.org_id = tenant_id and m.asset_id = u.asset and m.minute = u.at_minute
    cross join lateral (
      select n.location_id, n.minute from asset_minutes n
      where n.org_id = tenant_id and n.asset_id = u.asset and n.minute > u.at_minute order by n.minute limit 1
    ) after
    where after.location_id is distinct from m.location_id
  ) d;
  if gone_assets is null then return; end if;
  perform from add_departures_without_move(tenant_id, origins, minutes, gone_assets);
end $$;

-- Records sightings in this order: minutes, positions, first sightings, departures without a move, moves, outbox. Sightings may
-- come in any order; those without an asset are ignored. A sighting of an operator overrides the minute. `assumed_locations` are
-- the locations that the caller assumed for some of the assets; the function fails with 'LS001' if one of them has changed.
create or replace function record_sightings(
  tenant_id bigint,
  sighting_source text,
  recorded_now timestamptz,
  seen_assets bigint[],
  seen_locations bigint[],
  seen_instants timestamptz[],
  assumed_assets bigint[],
  assumed_locations bigint[]
) returns setof recorded_move language plpgsql as $$
declare
  one record;
  -- The first sighting of each asset and minute.
  first_assets bigint[]; first_minutes timestamptz[]; first_locations bigint[]; first_instants timestamptz[];
  -- The sightings that set a minute; the first `claimed` of them set a minute that was free.
  fresh_assets bigint[] := '{}'; fresh_minutes timestamptz[] := '{}';
  fresh_locations bigint[] := '{}'; fresh_instants timestamptz[] := '{}';
  claimed bigint;
  -- The latest of these for each asset, ordered by asset, and the position of the asset before.
  last_assets bigint[]; last_minutes timestamptz[]; last_locations bigint[]; last_instants timestamptz[];
  earliest_minutes timestamptz[]; earliest_instants timestamptz[]; added_minutes bigint[];
  previous_locations bigint[] := '{}'; previous_minutes timestamptz[] := '{}';
  -- Assets without a history, and their first sightings.
  never_seen bigint[] := '{}'; begun_instants timestamptz[] := '{}';
  -- Assets whose history begins anew; those with a sighting that is not after their last known minute, and its minute. For
  -- every asset, the minute before which its sightings are such; null if it has none.
  beginners bigint[] := '{}';
  late_assets bigint[] := '{}'; late_minutes timestamptz[] := '{}'; late_before timestamptz[] := '{}';
  gone_assets bigint[]; gone_origins bigint[]; gone_minutes timestamptz[];
  live_assets bigint[]; still_live bigint;
  random_shard smallint := floor(random() * 16);
  move_assets bigint[]; move_origins bigint[]; move_targets bigint[]; move_instants timestamptz[];
  delivery_ids uuid[];
  made_origins bigint[] := '{}'; made_targets bigint[] := '{}'; made_instants timestamptz[] := '{}';
  a_move recorded_move;
  -- The span of the transaction (db/transactions.ts), if it is traced.
  trace_parent text := nullif(current_setting('app.traceparent', true), '');
begin
  -- The first sighting per asset and minute is the earliest; of two at the same instant, the one that was sent first.
  select array_agg(f.asset), array_agg(f.minute), array_agg(f.location), array_agg(f.instant)
  into first_assets, first_minutes, first_locations, first_instants
  from (
    select distinct on (u.asset, date_trunc('minute', u.instant, 'UTC'))
      u.asset, date_trunc('minute', u.instant, 'UTC') as minute, u.location, u.instant
    from unnest(seen_assets, seen_locations, seen_instants) with ordinality u (asset, location, instant, n)
    where u.asset is not null
    order by u.asset, date_trunc('minute', u.instant, 'UTC'), u.instant, u.n
  ) f;
  if first_assets is null then return; end if;

  -- Minutes: a sighting sets its minute if it is free. No existing row is changed, so repeating it does nothing.
  for one in
    insert into asset_minutes as made (org_id, asset_id, minute, location_id, observed_at, source)
    select o.org_id, u.asset, u.at_minute, u.location, u.instant, sighting_source
    from organizations o
    cross join unnest(first_assets, first_minutes, first_locations, first_instants) u (asset, at_minute, location, instant)
    where o.org_id = tenant_id
    order by u.asset, u.at_minute
    on conflict (org_id, asset_id, minute) do nothing
    returning asset_id, minute, location_id, observed_at
  loop
    fresh_assets := fresh_assets || one.asset_id;
    fresh_minutes := fresh_minutes || one.minute;
    fresh_locations := fresh_locations || one.location_id;
    fresh_instants := fresh_instants || one.observed_at;
  end loop;
  claimed := cardinality(fresh_assets);

  -- A sighting of an operator also overrides minutes that are set, where the location differs.
  if sighting_source = 'operator' and claimed < cardinality(first_assets) then
    -- An update locks rows in any order. Locking them in a fixed order first avoids deadlocks between two saves.
    perform from unnest(first_assets, first_minutes) u (asset, at_minute)
      join asset_minutes m on m.asset_id = u.asset and m.minute = u.at_minute
      where m.org_id = tenant_id order by m.asset_id, m.minute for no key update of m;
    for one in
      update asset_minutes m set location_id = u.location, observed_at = u.instant, source = 'operator'
      from unnest(first_assets, first_minutes, first_locations, first_instants) u (asset, at_minute, location, instant)
      where m.org_id = tenant_id and m.asset_id = u.asset and m.minute = u.at_minute
        and m.location_id is distinct from u.location
      returning m.asset_id, m.minute, m.location_id, m.observed_at
    loop
      fresh_assets := fresh_assets || one.asset_id;
      fresh_minutes := fresh_minutes || one.minute;
      fresh_locations := fresh_locations || one.location_id;
      fresh_instants := fresh_instants || one.observed_at;
    end loop;
  end if;
  if cardinality(fresh_assets) = 0 then return; end if;

  select array_agg(l.asset), array_agg(l.at_minute), array_agg(l.location), array_agg(l.instant), array_agg(l.earliest),
    array_agg(l.earliest_instant), array_agg(l.added)
  into last_assets, last_minutes, last_locations, last_instants, earliest_minutes, earliest_instants, added_minutes
  from (
    select distinct on (u.asset) u.asset, u.at_minute, u.location, u.instant,
      min(u.at_minute) over (partition by u.asset) as earliest,
      min(u.instant) over (partition by u.asset) as earliest_instant,
      count(*) filter (where u.n <= claimed) over (partition by u.asset) as added
    from unnest(fresh_assets, fresh_minutes, fresh_locations, fresh_instants)
      with ordinality u (asset, at_minute, location, instant, n)
    order by u.asset, u.at_minute desc
  ) l;

  -- Positions: a reader changes the position only with a later minute, an operator also within the same minute. The row lock
  -- serializes the changes of an asset, so a move is detected once, however many batches are in flight.
  for one in
    insert into asset_positions as stored (org_id, asset_id, location_id, last_seen_at, last_minute, minutes)
    select o.org_id, u.asset, u.location, u.instant, u.at_minute, u.added
    from organizations o
    cross join unnest(last_assets, last_minutes, last_locations, last_instants, added_minutes)
      u (asset, at_minute, location, instant, added)
    where o.org_id = tenant_id
    order by u.asset
    on conflict (org_id, asset_id) do update set
      previous_location_id = stored.location_id,
      previous_minute = stored.last_minute,
      location_id = case when excluded.last_minute < stored.last_minute
          or (sighting_source = 'reader' and excluded.last_minute = stored.last_minute)
        then stored.location_id else excluded.location_id end,
      last_seen_at = case when excluded.last_minute < stored.last_minute
          or (sighting_source = 'reader' and excluded.last_minute = stored.last_minute)
        then stored.last_seen_at else excluded.last_seen_at end,
      last_minute = greatest(stored.last_minute, excluded.last_minute),
      minutes = stored.minutes + excluded.minutes
    returning asset_id, previous_location_id, previous_minute, history_from
  loop
    previous_locations := previous_locations || one.previous_location_id;
    previous_minutes := previous_minutes || one.previous_minute;
    if one.asset_id is distinct from last_assets[cardinality(previous_locations)] then
      raise exception 'positions were returned in a different order';
    end if;
    if one.previous_minute is null then
      never_seen := never_seen || one.asset_id;
      begun_instants := begun_instants || earliest_instants[cardinality(previous_locations)];
    elsif one.history_from > one.previous_minute then
      beginners := beginners || one.asset_id;
    elsif one.previous_minute >= earliest_minutes[cardinality(previous_locations)] then
      late_assets := late_assets || one.asset_id;
      late_minutes := late_minutes || earliest_minutes[cardinality(previous_locations)];
      late_before[cardinality(previous_locations)] := one.previous_minute;
    end if;
    if sighting_source = 'operator' and one.previous_minute > last_minutes[cardinality(previous_locations)] then
      raise exception 'a reader saw an asset in a later minute meanwhile' using errcode = 'LS001';
    end if;
    if one.asset_id = any (assumed_assets)
      and one.previous_location_id is distinct from assumed_locations[array_position(assumed_assets, one.asset_id)] then
      raise exception 'an asset was moved while its sightings were smoothed' using errcode = 'LS001';
    end if;
  end loop;

  -- First sightings of assets with a history: where the history begins anew, and where a sighting is not after the first one.
  if cardinality(late_assets) > 0 then
    select beginners || array_agg(f.asset_id) into beginners
    from unnest(late_assets, late_minutes) u (asset, at_minute)
    join first_sightings f on f.org_id = tenant_id and f.asset_id = u.asset and f.seen_at >= u.at_minute;
  end if;
  if cardinality(beginners) > 0 then perform from correct_first_sightings(tenant_id, beginners); end if;

  -- Departures that the minutes before the last known one cause.
  if cardinality(late_assets) > 0 then
    select array_agg(f.asset), array_agg(f.at_minute) into gone_assets, gone_minutes
    from (
      select u.asset, u.at_minute, dense_rank() over (order by u.asset) as n
      from unnest(fresh_assets, fresh_minutes) u (asset, at_minute)
    ) f
    where f.at_minute < late_before[f.n];
    if gone_assets is not null then perform from add_late_departures(tenant_id, gone_assets, gone_minutes); end if;
  end if;

  -- Totals of the report. The lock decides whether an asset that is being deleted counts as live or as deleted.
  if cardinality(never_seen) > 0 then
    live_assets := array(
      select id from assets
      where org_id = tenant_id and id = any (never_seen) and deleted_at is null order by id for share);
    still_live := cardinality(live_assets);
    insert into first_sightings as stored (org_id, asset_id, seen_at)
    select o.org_id, u.asset, u.instant
    from organizations o cross join unnest(never_seen, begun_instants) u (asset, instant)
    where o.org_id = tenant_id
    order by u.asset
    on conflict (org_id, asset_id) do update set seen_at = excluded.seen_at;
    perform from count_first_sightings(tenant_id, never_seen, '{}', begun_instants, live_assets);
    insert into record_counts as stored (org_id, kind, shard, active, inactive, deleted_active, deleted_inactive)
    values (tenant_id, 'position', random_shard, still_live, 0, cardinality(never_seen) - still_live, 0)
    on conflict (org_id, kind, shard) do update set
      active = stored.active + excluded.active,
      deleted_active = stored.deleted_active + excluded.deleted_active;
  end if;

  -- Moves: a sighting before the last known minute is no move. A sighting without a location is no move either, but leaves the
  -- location unknown. Such a change is a departure without a move, and so is the change from no location to a known one.
  select array_agg(s.asset) filter (where s.location is not null), array_agg(s.origin) filter (where s.location is not null),
    array_agg(s.location) filter (where s.location is not null), array_agg(s.instant) filter (where s.location is not null),
    array_agg(s.asset) filter (where s.is_without_move), array_agg(s.origin) filter (where s.is_without_move),
    array_agg(s.at_minute) filter (where s.is_without_move)
  into move_assets, move_origins, move_targets, move_instants, gone_assets, gone_origins, gone_minutes
  from (
    select e.*, e.location is null or (e.origin is null and e.was_seen) as is_without_move
    from (
      select f.asset, f.location, f.instant, f.at_minute,
        lag(f.location, 1, previous_locations[f.n]) over of_asset as origin,
        previous_minutes[f.n] is not null or row_number() over of_asset > 1 as was_seen
      from (
        select u.asset, u.at_minute, u.location, u.instant, dense_rank() over (order by u.asset) as n
        from unnest(fresh_assets, fresh_minutes, fresh_locations, fresh_instants) u (asset, at_minute, location, instant)
      ) f
      where previous_minutes[f.n] is null or f.at_minute >= previous_minutes[f.n]
      window of_asset as (partition by f.asset order by f.at_minute)
    ) e
  ) s
  where s.location is distinct from s.origin;
  if gone_assets is not null then
    perform from add_departures_without_move(tenant_id, gone_origins, gone_minutes, gone_assets);
  end if;
  if move_assets is null then return; end if;

  -- Each move keeps the current names. If the origin was deleted meanwhile, the move has none. If the target was deleted
  -- meanwhile, the transaction is retried, so that no asset is left at a deleted location.
  delivery_ids := array(select gen_random_uuid() from unnest(move_assets));
  for a_move in
    insert into moves as made (org_id, delivery_id, asset_id, asset_external_key, asset_name, from_location_id,
      from_location_name, to_location_id, to_location_name, occurred_at, recorded_at)
    select a.org_id, u.delivery, a.id, a.external_key, a.name, origin.id, origin.name, target.id, target.name,
      u.instant, recorded_now
    from unnest(delivery_ids, move_assets, move_origins, move_targets, move_instants)
      u (delivery, asset, origin, target, instant)
    join assets a on a.org_id = tenant_id and a.id = u.asset
    join locations target on target.org_id = tenant_id and target.id = u.target and target.deleted_at is null
    left join locations origin on origin.org_id = tenant_id and origin.id = u.origin and origin.deleted_at is null
    returning delivery_id, asset_id, asset_external_key, asset_name, from_location_id, from_location_name,
      to_location_id, to_location_name, occurred_at, recorded_at
  loop
    made_origins := made_origins || a_move.from_location_id;
    made_targets := made_targets || a_move.to_location_id;
    made_instants := made_instants || a_move.occurred_at;
    return next a_move;
  end loop;
  if cardinality(made_targets) < cardinality(move_assets) then
    raise exception 'a location was deleted while a sighting at it was recorded' using errcode = 'LS001';
  end if;
  perform from count_location_moves(tenant_id, made_origins, made_targets, made_instants, 1);
  if cardinality(array_remove(made_origins, null)) < cardinality(array_remove(move_origins, null)) then
    select array_agg(u.asset), array_agg(u.origin), array_agg(date_trunc('minute', u.instant, 'UTC'))
    into gone_assets, gone_origins, gone_minutes
    from unnest(move_assets, move_origins, move_instants) u (asset, origin, instant)
    join locations l on l.org_id = tenant_id and l.id = u.origin and l.deleted_at is not null;
    perform from add_departures_without_move(tenant_id, gone_origins, gone_minutes, gone_assets);
  end if;

  -- The outbox gets the moves in the current generation of the webhook, and nothing while deliveries are switched off.
  insert into webhook_outbox (org_id, generation, recorded_at, delivery_id, traceparent)
  select w.org_id, w.generation, recorded_now, u.delivery, trace_parent
  from webhooks w cross join unnest(delivery_ids) u (delivery)
  where w.org_id = tenant_id and w.generation is not null
  on conflict (org_id, generation, recorded_at, delivery_id) do nothing;
end $$;

-- Finds the asset and the location of each read: the asset of the first identity of the tag that is attached to one, and the
-- location of the antenna. A deleted location counts as none, and reads of a deleted reader have no asset. To keep the arrays
-- small, reads refer to their tag and antenna by number: a tag group is one tag with all its identities, an antenna ref is one
-- antenna of one reader.
create or replace function resolve_reads(
  tenant_id bigint,
  tag_groups integer[],
  tag_types text[],
  normalized_values text[],
  reader_ids bigint[],
  antennas integer[],
  read_tag_groups integer[],
  read_antenna_refs integer[],
  out found_assets bigint[],
  out found_locations bigint[],
  -- The smoothing settings of the reader of each antenna ref.
  out smoothings text[]
) language plpgsql as $$
declare
  one record;
  tag_owners bigint[] := '{}';
  is_known boolean[] := '{}';
  antenna_locations bigint[] := '{}';
begin
  smoothings := array_fill(null::text, array[cardinality(reader_ids)]);
  for one in
    select distinct on (u.tag_group) u.tag_group, t.asset_id
    from unnest(tag_groups, tag_types, normalized_values) with ordinality u (tag_group, type_of_tag, matched, n)
    join tags t on t.org_id = tenant_id and t.tag_type = u.type_of_tag and t.normalized_value = u.matched
    where t.asset_id is not null
    order by u.tag_group, u.n
  loop
    tag_owners[one.tag_group] := one.asset_id;
  end loop;
  for one in
    select u.n, r.smoothing, l.id as location
    from unnest(reader_ids, antennas) with ordinality u (reader, antenna_number, n)
    join readers r on r.org_id = tenant_id and r.id = u.reader
    left join scan_points p on p.org_id = tenant_id and p.reader_id = r.id and p.antenna = u.antenna_number
    left join locations l on l.org_id = tenant_id and l.id = p.location_id and l.deleted_at is null
  loop
    is_known[one.n] := true;
    antenna_locations[one.n] := one.location;
    smoothings[one.n] := one.smoothing;
  end loop;
  select array_agg(case when is_known[u.antenna_ref] then tag_owners[u.tag_group] end), array_agg(antenna_locations[u.antenna_ref])
  into found_assets, found_locations
  from unnest(read_tag_groups, read_antenna_refs) u (tag_group, antenna_ref);
end $$;

-- Records a batch of reads. The first row of the result has the numbers of the reads with an unknown tag; each further row is
-- a move. If a reader smooths, nothing is recorded and the result is empty: the caller then resolves and smooths the reads.
create or replace function record_reads(
  tenant_id bigint,
  recorded_now timestamptz,
  tag_groups integer[],
  tag_types text[],
  normalized_values text[],
  reader_ids bigint[],
  antennas integer[],
  read_tag_groups integer[],
  read_antenna_refs integer[],
  read_instants timestamptz[]
) returns table (unknown_reads integer[], move recorded_move) language plpgsql as $$
declare
  batch record;
begin
  batch := resolve_reads(
    tenant_id, tag_groups, tag_types, normalized_values, reader_ids, antennas, read_tag_groups, read_antenna_refs);
  if exists (select from unnest(batch.smoothings) s where s is not null) then return; end if;
  unknown_reads := array(select u.n from unnest(batch.found_assets) with ordinality u (asset, n) where u.asset is null);
  return next;
  unknown_reads := null;
  for move in
    select s.* from record_sightings(
      tenant_id, 'reader', recorded_now, batch.found_assets, batch.found_locations, read_instants, '{}', '{}') s
  loop
    return next;
  end loop;
end $$;

-- Records that an operator saw these assets at a location. If the clock of a reader is ahead, the sighting takes the latest
-- minute of the asset, so that it overrides the reader there too.
create or replace function record_operator_sighting(tenant_id bigint, recorded_now timestamptz, saved_location bigint, given_assets bigint[])
returns setof recorded_move language plpgsql as $$
declare
  ahead_assets bigint[]; ahead_minutes timestamptz[];
  saved_assets bigint[]; saved_instants timestamptz[];
begin
  select array_agg(p.asset_id), array_agg(p.last_minute) into ahead_assets, ahead_minutes
  from asset_positions p
  where p.org_id = tenant_id and p.asset_id = any (given_assets)
    and p.last_minute > date_trunc('minute', recorded_now, 'UTC');
  select array_agg(s.asset), array_agg(s.instant) into saved_assets, saved_instants
  from (
    select u.asset, max(u.instant) as instant
    from (
      select a.asset, recorded_now as instant from unnest(given_assets) a (asset)
      union all select a.asset, a.instant from unnest(ahead_assets, ahead_minutes) a (asset, instant)
    ) u
    group by u.asset
  ) s;
  if saved_assets is null then return; end if;
  return query select s.* from record_sightings(
    tenant_id, 'operator', recorded_now, saved_assets, array_fill(saved_location, array[cardinality(saved_assets)]),
    saved_instants, '{}', '{}') s;
end $$;

revoke all on function count_first_sightings from public;
revoke all on function correct_first_sightings from public;
revoke all on function count_location_moves from public;
revoke all on function add_departures_without_move from public;
revoke all on function add_late_departures from public;
revoke all on function record_sightings from public;
revoke all on function resolve_reads from public;
revoke all on function record_reads from public;
revoke all on function record_operator_sighting from public;
grant execute on function count_first_sightings to lastseen_writer;
grant execute on function correct_first_sightings to lastseen_writer;
grant execute on function count_location_moves to lastseen_writer;
grant execute on function add_departures_without_move to lastseen_writer;
grant execute on function add_late_departures to lastseen_writer;
grant execute on function record_sightings to lastseen_writer;
grant execute on function resolve_reads to lastseen_writer;
grant execute on function record_reads to lastseen_writer;
grant execute on function record_operator_sighting to lastseen_writer;
