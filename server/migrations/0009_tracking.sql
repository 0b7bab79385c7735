-- History at one-minute resolution: whoever sets an asset's minute first keeps it, unless an operator says otherwise.
-- Partitions are made ahead and dropped by the application.
create table asset_minutes (
  org_id bigint not null,
  asset_id bigint not null,
  minute timestamptz not null,
  location_id bigint,
  observed_at timestamptz not null,
  source text not null,
  constraint asset_minutes_pk primary key (org_id, asset_id, minute),
  constraint asset_minutes_source check (source in ('reader', 'operator'))
) partition by range (minute);
create index asset_minutes_by_location on asset_minutes (org_id, location_id, minute) where location_id is not null;

-- The last known place. What it was before the latest change is kept beside it, so that one upsert tells the move.
-- `minutes` counts the asset's rows of history from `history_from` on.
alter table asset_positions add column last_minute timestamptz;
alter table asset_positions add column previous_location_id bigint;
alter table asset_positions add column previous_minute timestamptz;
alter table asset_positions add column minutes bigint not null default 0;
alter table asset_positions add column history_from timestamptz;
create index asset_positions_recent on asset_positions (org_id, last_seen_at desc, asset_id);

-- One row per detected move, with the names of that moment; it is written with the move and delivered from here.
create table moves (
  org_id bigint not null,
  delivery_id uuid not null,
  asset_id bigint not null,
  asset_external_key text not null,
  asset_name text not null,
  from_location_id bigint,
  from_location_name text,
  to_location_id bigint not null,
  to_location_name text not null,
  occurred_at timestamptz not null,
  recorded_at timestamptz not null,
  claimed_at timestamptz,
  constraint moves_pk primary key (org_id, delivery_id),
  constraint moves_org foreign key (org_id) references organizations (org_id)
);
create index moves_recent on moves (org_id, recorded_at, delivery_id);
create index moves_unclaimed on moves (org_id, recorded_at) where claimed_at is null;

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array['readers', 'scan_points', 'unknown_tags', 'asset_minutes', 'moves'] loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format(
      'create policy one_organization on %I to lastseen_writer'
      ' using (org_id = nullif(current_setting(''app.org_id'', true), '''')::bigint)'
      ' with check (org_id = nullif(current_setting(''app.org_id'', true), '''')::bigint)', tenant_table);
    execute format('create policy checked_reads on %I for select to lastseen_reader using (true)', tenant_table);
    execute format('grant select, insert, update, delete on %I to lastseen_writer', tenant_table);
    execute format('grant select on %I to lastseen_reader', tenant_table);
  end loop;
end $$;
create index moves_arrivals on moves (org_id, to_location_id, occurred_at);
create index moves_departures on moves (org_id, from_location_id, occurred_at) where from_location_id is not null;
