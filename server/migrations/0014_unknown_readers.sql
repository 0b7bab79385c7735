-- Topics of an outside broker that lead to no reader. No organization owns them: the operator of the installation does.
create table unknown_topics (
  topic text collate "C" not null,
  messages bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  constraint unknown_topics_pk primary key (topic)
);
create index unknown_topics_recent on unknown_topics (last_seen_at, topic);
grant select, insert, update, delete on unknown_topics to lastseen_writer;
grant select on unknown_topics to lastseen_reader;

-- Antennas that reported reads although no scan point names them; bounded per reader.
create table unknown_antennas (
  org_id bigint not null,
  reader_id bigint not null,
  antenna integer not null,
  reads bigint not null,
  last_seen_at timestamptz not null,
  constraint unknown_antennas_pk primary key (org_id, reader_id, antenna),
  constraint unknown_antennas_org foreign key (org_id) references organizations (org_id)
);
alter table unknown_antennas enable row level security;
alter table unknown_antennas force row level security;
create policy one_organization on unknown_antennas to lastseen_writer
  using (org_id = nullif(current_setting('app.org_id', true), '')::bigint)
  with check (org_id = nullif(current_setting('app.org_id', true), '')::bigint);
create policy checked_reads on unknown_antennas for select to lastseen_reader using (true);
grant select, insert, update, delete on unknown_antennas to lastseen_writer;
grant select on unknown_antennas to lastseen_reader;
