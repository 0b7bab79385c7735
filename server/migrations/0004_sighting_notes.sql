-- Notes that operators wrote when they set the location of assets. `minute` is the history row of the asset that the save
-- set. All notes of one save have the same `save_id` and text. `user_id` is the operator; the user may be gone.
create table sighting_notes (
  org_id bigint not null,
  asset_id bigint not null,
  minute timestamptz not null,
  save_id bigint not null,
  location_id bigint not null,
  user_id bigint not null,
  noted_at timestamptz not null,
  note text not null,
  constraint sighting_notes_pk primary key (org_id, asset_id, minute, save_id),
  constraint sighting_notes_org foreign key (org_id) references organizations (org_id)
);
-- For retention.
create index sighting_notes_by_minute on sighting_notes (org_id, minute);

alter table sighting_notes enable row level security;
alter table sighting_notes force row level security;
create policy one_organization on sighting_notes to lastseen_writer
  using (org_id = nullif(current_setting('app.org_id', true), '')::bigint)
  with check (org_id = nullif(current_setting('app.org_id', true), '')::bigint);
create policy checked_reads on sighting_notes for select to lastseen_reader using (true);
grant select, insert, update, delete on sighting_notes to lastseen_writer;
grant select on sighting_notes to lastseen_reader;
