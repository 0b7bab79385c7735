-- Scan devices: each has its own secret, and scan points that say where each of its antennas looks.
create table readers (
  org_id bigint not null,
  id bigint not null,
  name text collate "C" not null,
  format text not null,
  clock text not null,
  token_hash bytea not null,
  topic_key text collate "C" not null,
  smoothing json,
  created_at timestamptz not null,
  last_seen_at timestamptz,
  messages bigint not null,
  reads bigint not null,
  ignored bigint not null,
  warning text,
  constraint readers_pk primary key (org_id, id),
  constraint readers_org foreign key (org_id) references organizations (org_id),
  constraint readers_clock check (clock in ('reader', 'server', 'sent_at'))
);

create table scan_points (
  org_id bigint not null,
  reader_id bigint not null,
  antenna integer not null,
  location_id bigint,
  constraint scan_points_pk primary key (org_id, reader_id, antenna),
  constraint scan_points_reader foreign key (org_id, reader_id) references readers (org_id, id),
  constraint scan_points_location foreign key (org_id, location_id) references locations (org_id, id)
);

-- The directory of devices: a token or a topic leads to the reader and its organization.
create table reader_directory (
  token_hash bytea not null,
  topic_key text collate "C" not null,
  org_id bigint not null,
  reader_id bigint not null,
  constraint reader_directory_pk primary key (token_hash),
  constraint reader_directory_topic unique (topic_key)
);

-- What was read but hangs on nothing yet; bounded per organization.
create table unknown_tags (
  org_id bigint not null,
  tag_type text not null,
  match_value text collate "C" not null,
  value text not null,
  reader_id bigint,
  antenna integer,
  reads bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  constraint unknown_tags_pk primary key (org_id, tag_type, match_value),
  constraint unknown_tags_org foreign key (org_id) references organizations (org_id)
);
create index unknown_tags_recent on unknown_tags (org_id, last_seen_at);

grant select, insert, update, delete on reader_directory to lastseen_writer;
grant select on reader_directory to lastseen_reader;
