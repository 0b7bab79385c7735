create table locations (
  org_id bigint not null,
  id bigint not null,
  external_key text collate "C" not null,
  name text collate "C" not null,
  description text,
  parent_id bigint,
  is_active boolean not null,
  valid_from timestamptz not null,
  valid_to timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  search_text text collate "C" not null,
  constraint locations_pk primary key (org_id, id),
  constraint locations_org foreign key (org_id) references organizations (org_id),
  constraint locations_parent foreign key (org_id, parent_id) references locations (org_id, id),
  constraint locations_window check (valid_to is null or valid_to > valid_from)
);
create unique index locations_live_key on locations (org_id, external_key) where deleted_at is null;
create index locations_by_name on locations (org_id, name, id) where deleted_at is null;
create index locations_by_creation on locations (org_id, created_at, id) where deleted_at is null;
create index locations_by_update on locations (org_id, updated_at, id) where deleted_at is null;
create index locations_by_parent on locations (org_id, parent_id) where deleted_at is null;
create index locations_deleted on locations (org_id, external_key, id) where deleted_at is not null;
create index locations_inactive on locations (org_id, external_key) where deleted_at is null and not is_active;
create index locations_not_yet on locations (org_id, valid_from) include (is_active, deleted_at) where valid_from > created_at;
create index locations_expiring on locations (org_id, valid_to) include (is_active, deleted_at) where valid_to is not null;
create index locations_search on locations using gin (org_id, search_text gin_trgm_ops) where deleted_at is null;

-- Where each asset was last seen: one row per scanned asset.
create table asset_positions (
  org_id bigint not null,
  asset_id bigint not null,
  location_id bigint,
  last_seen_at timestamptz not null,
  constraint asset_positions_pk primary key (org_id, asset_id),
  constraint asset_positions_asset foreign key (org_id, asset_id) references assets (org_id, id),
  constraint asset_positions_location foreign key (org_id, location_id) references locations (org_id, id)
);
create index asset_positions_location on asset_positions (org_id, location_id) where location_id is not null;
