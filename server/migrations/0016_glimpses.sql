-- What readers that smooth saw of an asset lately, for all processes to go by. May be lost in a crash: a change of place
-- is believed a little later then.
create unlogged table asset_glimpses (
  org_id bigint not null,
  asset_id bigint not null,
  seen text not null,
  constraint asset_glimpses_pk primary key (org_id, asset_id),
  constraint asset_glimpses_org foreign key (org_id) references organizations (org_id)
) with (fillfactor = 50);
alter table asset_glimpses enable row level security;
alter table asset_glimpses force row level security;
create policy one_organization on asset_glimpses to lastseen_writer
  using (org_id = nullif(current_setting('app.org_id', true), '')::bigint)
  with check (org_id = nullif(current_setting('app.org_id', true), '')::bigint);
create policy checked_reads on asset_glimpses for select to lastseen_reader using (true);
grant select, insert, update, delete on asset_glimpses to lastseen_writer;
grant select on asset_glimpses to lastseen_reader;
