-- Recording what was seen, so that a batch of reads is one statement and one round trip. Every statement in here runs by
-- itself, with a snapshot of its own and its locks in the order of the text: minutes, positions, assets, counts. On Citus
-- the functions run on the coordinator and each statement on the shard of the organization. They run as whoever calls
-- them, under the fence between organizations. 'LS001' means that what was found is true no longer: run it again.
create type recorded_move as (
  delivery_id uuid,
  asset_id bigint,
  asset_external_key text,
  asset_name text,
  from_location_id bigint,
  from_location_name text,
  to_location_id bigint,
  to_location_name text,
  occurred_at timestamptz,
  recorded_at timestamptz
);

-- Sightings → minutes → positions → moves → what is due. They may come in any order; without an asset they are none.
-- An operator displaces whoever holds the minute. `assumed_places` is where the caller took some of the assets to be.
create function record_sightings(
  the_org bigint,
  by_whom text,
  at_moment timestamptz,
  seen_assets bigint[],
  seen_places bigint[],
  seen_instants timestamptz[],
  assumed_assets bigint[],
  assumed_places bigint[]
) returns setof recorded_move language plpgsql as $$
declare
  one record;
  -- The first sighting of each asset and minute.
  first_assets bigint[]; first_minutes timestamptz[]; first_places bigint[]; first_instants timestamptz[];
  -- Those that got their minute; of these, so many got one that was free.
  fresh_assets bigint[] := '{}'; fresh_minutes timestamptz[] := '{}';
  fresh_places bigint[] := '{}'; fresh_instants timestamptz[] := '{}';
  claimed bigint;
  -- The latest of these for each asset, in ascending order, and beside each where the asset was before.
  last_assets bigint[]; last_minutes timestamptz[]; last_places bigint[]; last_instants timestamptz[];
  added_minutes bigint[];
  before_places bigint[] := '{}'; before_minutes timestamptz[] := '{}';
  never_seen bigint[] := '{}';
  still_live bigint;
  any_slot smallint := floor(random() * 16);
  move_assets bigint[]; move_origins bigint[]; move_targets bigint[]; move_instants timestamptz[];
  delivery_ids uuid[];
  made_moves bigint := 0;
  a_move recorded_move;
begin
  -- First per asset and minute: the earliest, and of two at the same instant the one that came first.
  select array_agg(f.asset), array_agg(f.minute), array_agg(f.place), array_agg(f.instant)
  into first_assets, first_minutes, first_places, first_instants
  from (
    select distinct on (u.asset, date_trunc('minute', u.instant, 'UTC'))
      u.asset, date_trunc('minute', u.instant, 'UTC') as minute, u.place, u.instant
    from unnest(seen_assets, seen_places, seen_instants) with ordinality u (asset, place, instant, n)
    where u.asset is not null
    order by u.asset, date_trunc('minute', u.instant, 'UTC'), u.instant, u.n
  ) f;
  if first_assets is null then return; end if;

  -- Minutes: each free one goes to its sighting. Nobody is displaced, so doing it again does nothing.
  for one in
    insert into asset_minutes as made (org_id, asset_id, minute, location_id, observed_at, source)
    select o.org_id, u.asset, u.at_minute, u.place, u.instant, by_whom
    from organizations o
    cross join unnest(first_assets, first_minutes, first_places, first_instants) u (asset, at_minute, place, instant)
    where o.org_id = the_org
    order by u.asset, u.at_minute
    on conflict (org_id, asset_id, minute) do nothing
    returning asset_id, minute, location_id, observed_at
  loop
    fresh_assets := fresh_assets || one.asset_id;
    fresh_minutes := fresh_minutes || one.minute;
    fresh_places := fresh_places || one.location_id;
    fresh_instants := fresh_instants || one.observed_at;
  end loop;
  claimed := cardinality(fresh_assets);

  -- An operator takes the others too, unless nothing would change.
  if by_whom = 'operator' and claimed < cardinality(first_assets) then
    -- An update takes its locks in any order; taken one after the other first, two saves never wait for each other.
    perform from unnest(first_assets, first_minutes) u (asset, at_minute)
      join asset_minutes m on m.asset_id = u.asset and m.minute = u.at_minute
      where m.org_id = the_org order by m.asset_id, m.minute for no key update of m;
    for one in
      update asset_minutes m set location_id = u.place, observed_at = u.instant, source = 'operator'
      from unnest(first_assets, first_minutes, first_places, first_instants) u (asset, at_minute, place, instant)
      where m.org_id = the_org and m.asset_id = u.asset and m.minute = u.at_minute
        and m.location_id is distinct from u.place
      returning m.asset_id, m.minute, m.location_id, m.observed_at
    loop
      fresh_assets := fresh_assets || one.asset_id;
      fresh_minutes := fresh_minutes || one.minute;
      fresh_places := fresh_places || one.location_id;
      fresh_instants := fresh_instants || one.observed_at;
    end loop;
  end if;
  if cardinality(fresh_assets) = 0 then return; end if;

  select array_agg(l.asset), array_agg(l.at_minute), array_agg(l.place), array_agg(l.instant), array_agg(l.added)
  into last_assets, last_minutes, last_places, last_instants, added_minutes
  from (
    select distinct on (u.asset) u.asset, u.at_minute, u.place, u.instant,
      count(*) filter (where u.n <= claimed) over (partition by u.asset) as added
    from unnest(fresh_assets, fresh_minutes, fresh_places, fresh_instants)
      with ordinality u (asset, at_minute, place, instant, n)
    order by u.asset, u.at_minute desc
  ) l;

  -- Positions: a reader moves an asset on only with a later minute, an operator also within the minute. The row's lock
  -- makes every change follow the one before, so a move is detected once however many batches come at the same time.
  for one in
    insert into asset_positions as held (org_id, asset_id, location_id, last_seen_at, last_minute, minutes)
    select o.org_id, u.asset, u.place, u.instant, u.at_minute, u.added
    from organizations o
    cross join unnest(last_assets, last_minutes, last_places, last_instants, added_minutes)
      u (asset, at_minute, place, instant, added)
    where o.org_id = the_org
    order by u.asset
    on conflict (org_id, asset_id) do update set
      previous_location_id = held.location_id,
      previous_minute = held.last_minute,
      location_id = case when excluded.last_minute < held.last_minute
          or (by_whom = 'reader' and excluded.last_minute = held.last_minute)
        then held.location_id else excluded.location_id end,
      last_seen_at = case when excluded.last_minute < held.last_minute
          or (by_whom = 'reader' and excluded.last_minute = held.last_minute)
        then held.last_seen_at else excluded.last_seen_at end,
      last_minute = greatest(held.last_minute, excluded.last_minute),
      minutes = held.minutes + excluded.minutes
    returning asset_id, previous_location_id, previous_minute
  loop
    before_places := before_places || one.previous_location_id;
    before_minutes := before_minutes || one.previous_minute;
    if one.asset_id is distinct from last_assets[cardinality(before_places)] then
      raise exception 'positions came back in another order';
    end if;
    if one.previous_minute is null then never_seen := never_seen || one.asset_id; end if;
    if by_whom = 'operator' and one.previous_minute > last_minutes[cardinality(before_places)] then
      raise exception 'a reader saw an asset in a later minute meanwhile' using errcode = 'LS001';
    end if;
    if one.asset_id = any (assumed_assets)
      and one.previous_location_id is distinct from assumed_places[array_position(assumed_assets, one.asset_id)] then
      raise exception 'an asset was moved while a sighting of it was held back' using errcode = 'LS001';
    end if;
  end loop;

  -- Totals of the report: an asset deleted at this very moment is booked as what it then is.
  if cardinality(never_seen) > 0 then
    perform id from assets
      where org_id = the_org and id = any (never_seen) and deleted_at is null order by id for share;
    get diagnostics still_live = row_count;
    insert into record_counts as held (org_id, kind, slot, active, inactive, deleted_active, deleted_inactive)
    values (the_org, 'position', any_slot, still_live, 0, cardinality(never_seen) - still_live, 0)
    on conflict (org_id, kind, slot) do update set
      active = held.active + excluded.active,
      deleted_active = held.deleted_active + excluded.deleted_active;
  end if;

  -- Moves: what is older than the last known minute moves nothing; a sighting without a place moves nothing but leaves
  -- the place unknown.
  select array_agg(s.asset), array_agg(s.origin), array_agg(s.place), array_agg(s.instant)
  into move_assets, move_origins, move_targets, move_instants
  from (
    select f.asset, f.place, f.instant,
      lag(f.place, 1, before_places[f.n]) over (partition by f.asset order by f.at_minute) as origin
    from (
      select u.asset, u.at_minute, u.place, u.instant, dense_rank() over (order by u.asset) as n
      from unnest(fresh_assets, fresh_minutes, fresh_places, fresh_instants) u (asset, at_minute, place, instant)
    ) f
    where before_minutes[f.n] is null or f.at_minute >= before_minutes[f.n]
  ) s
  where s.place is not null and s.place is distinct from s.origin;
  if move_assets is null then return; end if;

  -- Each with the names of this moment. An origin deleted meanwhile is no origin; a target deleted meanwhile makes the
  -- transaction run again, so that no asset stays where nothing can be.
  delivery_ids := array(select gen_random_uuid() from unnest(move_assets));
  for a_move in
    insert into moves as made (org_id, delivery_id, asset_id, asset_external_key, asset_name, from_location_id,
      from_location_name, to_location_id, to_location_name, occurred_at, recorded_at)
    select a.org_id, u.delivery, a.id, a.external_key, a.name, origin.id, origin.name, target.id, target.name,
      u.instant, at_moment
    from unnest(delivery_ids, move_assets, move_origins, move_targets, move_instants)
      u (delivery, asset, origin, target, instant)
    join assets a on a.org_id = the_org and a.id = u.asset
    join locations target on target.org_id = the_org and target.id = u.target and target.deleted_at is null
    left join locations origin on origin.org_id = the_org and origin.id = u.origin and origin.deleted_at is null
    returning delivery_id, asset_id, asset_external_key, asset_name, from_location_id, from_location_name,
      to_location_id, to_location_name, occurred_at, recorded_at
  loop
    made_moves := made_moves + 1;
    return next a_move;
  end loop;
  if made_moves < cardinality(move_assets) then
    raise exception 'a location was deleted while things were placed in it' using errcode = 'LS001';
  end if;

  -- Due in the webhook's period as this statement finds it; not at all when there is nobody to tell.
  insert into due_moves (org_id, period, recorded_at, delivery_id)
  select w.org_id, w.period, at_moment, u.delivery
  from webhooks w cross join unnest(delivery_ids) u (delivery)
  where w.org_id = the_org and w.period is not null
  on conflict (org_id, period, recorded_at, delivery_id) do nothing;
end $$;

-- Which asset was seen where, read by read: the first of the tag's identities that hangs on an asset, at the place the
-- antenna looks at. A place deleted since is no place, and a reader deleted since saw nothing. Reads name what they saw
-- and whence by number: carriers are what identities hang together on, viewpoints are the antennas of readers.
create function resolve_reads(
  the_org bigint,
  carriers integer[],
  tag_types text[],
  match_values text[],
  reader_ids bigint[],
  antennas integer[],
  read_carriers integer[],
  read_viewpoints integer[],
  out found_assets bigint[],
  out found_places bigint[],
  -- How the reader of each viewpoint smooths.
  out smoothings text[]
) language plpgsql as $$
declare
  one record;
  holders bigint[] := '{}';
  is_there boolean[] := '{}';
  looks_at bigint[] := '{}';
begin
  smoothings := array_fill(null::text, array[cardinality(reader_ids)]);
  for one in
    select distinct on (u.carrier) u.carrier, t.asset_id
    from unnest(carriers, tag_types, match_values) with ordinality u (carrier, type_of_tag, matched, n)
    join tags t on t.org_id = the_org and t.tag_type = u.type_of_tag and t.match_value = u.matched
    where t.asset_id is not null
    order by u.carrier, u.n
  loop
    holders[one.carrier] := one.asset_id;
  end loop;
  for one in
    select u.n, r.smoothing, l.id as place
    from unnest(reader_ids, antennas) with ordinality u (reader, antenna_number, n)
    join readers r on r.org_id = the_org and r.id = u.reader
    left join scan_points p on p.org_id = the_org and p.reader_id = r.id and p.antenna = u.antenna_number
    left join locations l on l.org_id = the_org and l.id = p.location_id and l.deleted_at is null
  loop
    is_there[one.n] := true;
    looks_at[one.n] := one.place;
    smoothings[one.n] := one.smoothing;
  end loop;
  select array_agg(case when is_there[u.viewpoint] then holders[u.carrier] end), array_agg(looks_at[u.viewpoint])
  into found_assets, found_places
  from unnest(read_carriers, read_viewpoints) u (carrier, viewpoint);
end $$;

-- A batch of reads. The first row of the answer tells the numbers of the reads whose tag hangs on no asset, each other
-- row a move. Where a reader smooths nothing is done, and the answer has no row.
create function record_reads(
  the_org bigint,
  at_moment timestamptz,
  carriers integer[],
  tag_types text[],
  match_values text[],
  reader_ids bigint[],
  antennas integer[],
  read_carriers integer[],
  read_viewpoints integer[],
  read_instants timestamptz[]
) returns table (strangers integer[], move recorded_move) language plpgsql as $$
declare
  batch record;
begin
  batch := resolve_reads(
    the_org, carriers, tag_types, match_values, reader_ids, antennas, read_carriers, read_viewpoints);
  if exists (select from unnest(batch.smoothings) s where s is not null) then return; end if;
  strangers := array(select u.n from unnest(batch.found_assets) with ordinality u (asset, n) where u.asset is null);
  return next;
  strangers := null;
  for move in
    select s.* from record_sightings(
      the_org, 'reader', at_moment, batch.found_assets, batch.found_places, read_instants, '{}', '{}') s
  loop
    return next;
  end loop;
end $$;

-- An operator says these assets are here. Where a reader's clock runs ahead, the save takes the asset's latest minute, so
-- that it wins there too.
create function record_save(the_org bigint, at_moment timestamptz, at_place bigint, assets_there bigint[])
returns setof recorded_move language plpgsql as $$
declare
  ahead_assets bigint[]; ahead_minutes timestamptz[];
  saved_assets bigint[]; saved_instants timestamptz[];
begin
  select array_agg(p.asset_id), array_agg(p.last_minute) into ahead_assets, ahead_minutes
  from asset_positions p
  where p.org_id = the_org and p.asset_id = any (assets_there)
    and p.last_minute > date_trunc('minute', at_moment, 'UTC');
  select array_agg(s.asset), array_agg(s.instant) into saved_assets, saved_instants
  from (
    select u.asset, max(u.instant) as instant
    from (
      select a.asset, at_moment as instant from unnest(assets_there) a (asset)
      union all select a.asset, a.instant from unnest(ahead_assets, ahead_minutes) a (asset, instant)
    ) u
    group by u.asset
  ) s;
  if saved_assets is null then return; end if;
  return query select s.* from record_sightings(
    the_org, 'operator', at_moment, saved_assets, array_fill(at_place, array[cardinality(saved_assets)]),
    saved_instants, '{}', '{}') s;
end $$;

revoke all on function record_sightings from public;
revoke all on function resolve_reads from public;
revoke all on function record_reads from public;
revoke all on function record_save from public;
grant execute on function record_sightings to lastseen_writer;
grant execute on function resolve_reads to lastseen_writer;
grant execute on function record_reads to lastseen_writer;
grant execute on function record_save to lastseen_writer;
