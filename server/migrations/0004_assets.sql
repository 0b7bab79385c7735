-- Exact totals without counting rows: a counter per organization and kind, spread over slots so that writers do not queue.
create table record_counts (
  org_id bigint not null,
  kind text not null,
  slot smallint not null,
  active bigint not null,
  inactive bigint not null,
  deleted_active bigint not null,
  deleted_inactive bigint not null,
  constraint record_counts_pk primary key (org_id, kind, slot),
  constraint record_counts_org foreign key (org_id) references organizations (org_id)
) with (fillfactor = 50);

-- Where generated keys such as ASSET-0001 come from.
create table key_counters (
  org_id bigint not null,
  kind text not null,
  last bigint not null,
  constraint key_counters_pk primary key (org_id, kind),
  constraint key_counters_org foreign key (org_id) references organizations (org_id)
) with (fillfactor = 50);

create table assets (
  org_id bigint not null,
  id bigint not null,
  external_key text collate "C" not null,
  name text collate "C" not null,
  description text,
  metadata json not null,
  is_active boolean not null,
  valid_from timestamptz not null,
  valid_to timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  search_text text collate "C" not null,
  constraint assets_pk primary key (org_id, id),
  constraint assets_org foreign key (org_id) references organizations (org_id),
  constraint assets_window check (valid_to is null or valid_to > valid_from)
);
create unique index assets_live_key on assets (org_id, external_key) where deleted_at is null;
create index assets_by_name on assets (org_id, name, id) where deleted_at is null;
create index assets_by_creation on assets (org_id, created_at, id) where deleted_at is null;
create index assets_by_update on assets (org_id, updated_at, id) where deleted_at is null;
create index assets_deleted on assets (org_id, external_key, id) where deleted_at is not null;
create index assets_inactive on assets (org_id, external_key) where deleted_at is null and not is_active;
-- A record that is not valid yet starts after it was made; both indexes hold only the few rows a total must leave out.
create index assets_not_yet on assets (org_id, valid_from) include (is_active, deleted_at) where valid_from > created_at;
create index assets_expiring on assets (org_id, valid_to) include (is_active, deleted_at) where valid_to is not null;
create index assets_search on assets using gin (org_id, search_text gin_trgm_ops) where deleted_at is null;
