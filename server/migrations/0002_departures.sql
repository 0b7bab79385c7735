-- Departures that no row of moves shows, so that the report at a past instant finds the assets of a location by what left it
-- later: into a minute without a location, out of such a minute (the location is 0), and around a minute that was recorded
-- late. `minute` is the first minute of the history in which the asset was elsewhere. Few reads write a row.
create table departures_without_move (
  org_id bigint not null,
  location_id bigint not null,
  minute timestamptz not null,
  asset_id bigint not null,
  constraint departures_without_move_pk primary key (org_id, location_id, minute, asset_id)
);
-- For retention.
create index departures_without_move_by_minute on departures_without_move (org_id, minute);

-- From this instant on, every departure is in moves or in departures_without_move; null: since the first sighting. Rows that
-- exist now were written before departures_without_move, so they are complete a little later. Retention advances it.
alter table organizations add column departures_from timestamptz default now() + interval '10 minutes';
alter table organizations alter column departures_from drop default;

-- The assets whose location is unknown.
create index asset_positions_nowhere on asset_positions (org_id, asset_id) where location_id is null;

alter table departures_without_move enable row level security;
alter table departures_without_move force row level security;
create policy one_organization on departures_without_move to lastseen_writer
  using (org_id = nullif(current_setting('app.org_id', true), '')::bigint)
  with check (org_id = nullif(current_setting('app.org_id', true), '')::bigint);
create policy checked_reads on departures_without_move for select to lastseen_reader using (true);
grant select, insert, update, delete on departures_without_move to lastseen_writer;
grant select on departures_without_move to lastseen_reader;

-- See 0001_schema.sql.
do $$
begin
  if exists (select from pg_extension where extname = 'citus') then return; end if;
  alter table departures_without_move alter column org_id set (n_distinct = 1);
end $$;
