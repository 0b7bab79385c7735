-- The schema of Lastseen, by topic. Every table of a tenant starts its primary key and its indexes with org_id, so that on
-- Citus all rows of one organization are on one shard. server/src/db/schema/tables.ts lists the kind of each table.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Installation ---------------------------------------------------------------------------------------------------------

-- One row: the keys of the installation and the next block of ids. `secret_key` encrypts the secrets of webhooks. The keys
-- are themselves encrypted (`is_encrypted`) if the operator has set a master key.
create table installation (
  only_row boolean not null,
  id_key bytea not null,
  secret_key bytea not null,
  is_encrypted boolean not null default false,
  next_block bigint not null,
  constraint installation_pk primary key (only_row),
  constraint installation_one check (only_row)
);

-- The keys that sign access tokens. The current key signs. The previous key verifies tokens until they expire; a new key only
-- verifies until all processes have loaded it.
create table signing_keys (
  kid text not null,
  key bytea not null,
  is_encrypted boolean not null,
  is_current boolean not null,
  created_at timestamptz not null default now(),
  constraint signing_keys_pk primary key (kid)
);
create unique index signing_keys_current on signing_keys (is_current) where is_current;

-- A block of ids belongs to one organization, so the organization of an id is found without a query to every shard.
create table id_blocks (
  block bigint not null,
  org_id bigint not null,
  constraint id_blocks_pk primary key (block)
);

-- Organizations and users ----------------------------------------------------------------------------------------------

-- The names of all organizations. A copy of this table is on every node.
create table organization_names (
  org_id bigint not null,
  name text collate "C" not null,
  constraint organization_names_pk primary key (org_id)
);
-- For operator commands, which name organizations.
create index organization_names_name on organization_names (name);

-- One row per tenant. Statements that write batches start from it, so that Citus routes them to the tenant's shard.
-- `quotas` holds the quotas that the operator set for this organization: {"assets": 5000}. `stored_bytes` is an estimate of
-- the bytes that it stores, for its quota; an hourly job writes it.
create table organizations (
  org_id bigint not null,
  created_at timestamptz not null,
  lapsed_at timestamptz,
  quotas json,
  stored_bytes bigint not null default 0,
  constraint organizations_pk primary key (org_id)
);

-- A user may belong to several organizations; the e-mail address is unique in the installation. An unconfirmed address has
-- no email_confirmed_at.
create table users (
  user_id bigint not null,
  email text collate "C" not null,
  password_hash text not null,
  created_at timestamptz not null,
  email_confirmed_at timestamptz,
  constraint users_pk primary key (user_id),
  constraint users_email unique (email)
);

-- The role of a user in an organization.
create table memberships (
  user_id bigint not null,
  org_id bigint not null,
  role text not null,
  created_at timestamptz not null,
  constraint memberships_pk primary key (user_id, org_id),
  constraint memberships_role check (role in ('viewer', 'operator', 'manager', 'admin')),
  constraint memberships_user foreign key (user_id) references users (user_id)
);
create index memberships_org on memberships (org_id);

-- Links to set a new password. Each works once until it expires; only the hash of its token is stored.
create table password_resets (
  token_hash bytea not null,
  user_id bigint not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint password_resets_pk primary key (token_hash),
  constraint password_resets_user foreign key (user_id) references users (user_id)
);
-- For requests of a new link, which are limited per user.
create index password_resets_by_user on password_resets (user_id, created_at);

-- One open invitation per organization and e-mail address. The row is deleted when it is accepted or withdrawn.
create table invitations (
  org_id bigint not null,
  id bigint not null,
  email text collate "C" not null,
  role text not null,
  token_hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint invitations_pk primary key (org_id, id),
  constraint invitations_email unique (org_id, email),
  constraint invitations_role check (role in ('viewer', 'operator', 'manager', 'admin')),
  constraint invitations_org foreign key (org_id) references organizations (org_id)
);

-- Views of a list that a user has saved: the filters, the order and the columns, as the page encodes them.
create table saved_views (
  org_id bigint not null,
  id bigint not null,
  user_id bigint not null,
  name text collate "C" not null,
  search text not null,
  constraint saved_views_pk primary key (org_id, id),
  constraint saved_views_name unique (org_id, user_id, name),
  constraint saved_views_org foreign key (org_id) references organizations (org_id)
);

-- Credentials ----------------------------------------------------------------------------------------------------------

-- Maps a client id to its organization. A copy of this table is on every node.
create table client_ids (
  client_id uuid not null,
  org_id bigint not null,
  constraint client_ids_pk primary key (client_id)
);

-- API keys. Only the hash of the client secret is stored.
create table credentials (
  org_id bigint not null,
  id bigint not null,
  client_id uuid not null,
  name text not null,
  secret_hash bytea not null,
  scopes text[] not null,
  environment text not null,
  created_at timestamptz not null,
  created_by bigint,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint credentials_pk primary key (org_id, id),
  constraint credentials_client_id unique (org_id, client_id),
  constraint credentials_org foreign key (org_id) references organizations (org_id)
);

-- One row per family of refresh tokens, of an API key or of a user's session. A refresh locks the row first, so that only one
-- of two concurrent uses of a token succeeds. `end_reason` says why a user's session was ended: signed_out, password_changed
-- or revoked.
create table refresh_token_families (
  org_id bigint not null,
  family_id uuid not null,
  environment text not null,
  client_id uuid,
  user_id bigint,
  token_hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  end_reason text,
  constraint refresh_token_families_pk primary key (org_id, family_id),
  constraint refresh_token_families_org foreign key (org_id) references organizations (org_id),
  constraint refresh_token_families_holder check ((client_id is null) <> (user_id is null))
);
create index refresh_token_families_client on refresh_token_families (org_id, client_id) where client_id is not null;
create index refresh_token_families_user on refresh_token_families (org_id, user_id) where user_id is not null;
-- For deleting expired families.
create index refresh_token_families_expiry on refresh_token_families (org_id, expires_at);

-- Token buckets of the rate limit that several processes share. Unlogged: after a crash all buckets are full.
create unlogged table rate_buckets (
  client_id uuid not null,
  millitokens bigint not null,
  filled_at_ms bigint not null,
  admitted boolean not null,
  revoked boolean not null,
  constraint rate_buckets_pk primary key (client_id)
) with (fillfactor = 50);

-- Failed attempts to sign in, by account and client address. Unlogged: a crash clears them.
create unlogged table sign_in_failures (
  subject text collate "C" not null,
  since timestamptz not null,
  failures integer not null,
  pending integer not null,
  admitted boolean not null,
  constraint sign_in_failures_pk primary key (subject)
) with (fillfactor = 50);

-- Assets, locations and tags -------------------------------------------------------------------------------------------

-- Exact totals without counting rows: one counter per organization and kind, split into shards so that concurrent writers
-- rarely wait for each other.
create table record_counts (
  org_id bigint not null,
  kind text not null,
  shard smallint not null,
  active bigint not null,
  inactive bigint not null,
  deleted_active bigint not null,
  deleted_inactive bigint not null,
  constraint record_counts_pk primary key (org_id, kind, shard),
  constraint record_counts_org foreign key (org_id) references organizations (org_id)
) with (fillfactor = 50);

-- The last number of generated keys such as ASSET-0001.
create table key_counters (
  org_id bigint not null,
  kind text not null,
  last bigint not null,
  constraint key_counters_pk primary key (org_id, kind),
  constraint key_counters_org foreign key (org_id) references organizations (org_id)
) with (fillfactor = 50);

-- Deleted assets keep their row; their external key is free again. `search_text` is the lower-case text that searches match.
create table assets (
  org_id bigint not null,
  id bigint not null,
  external_key text collate "C" not null,
  name text collate "C" not null,
  description text,
  type text not null default 'asset',
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
  constraint assets_type check (type in ('asset', 'person', 'inventory')),
  constraint assets_window check (valid_to is null or valid_to > valid_from)
);
create unique index assets_live_key on assets (org_id, external_key) where deleted_at is null;
-- The orders of lists. They contain the live assets; a list that includes deleted ones finds these in assets_deleted.
create index assets_by_name on assets (org_id, name, id) where deleted_at is null;
create index assets_by_creation on assets (org_id, created_at, id) where deleted_at is null;
create index assets_by_update on assets (org_id, updated_at, id) where deleted_at is null;
create index assets_deleted on assets (org_id, external_key, id) where deleted_at is not null;
create index assets_inactive on assets (org_id, external_key) where deleted_at is null and not is_active;
-- Nearly all assets have the type `asset`; the index contains the others.
create index assets_other_types on assets (org_id, type) where type <> 'asset' and deleted_at is null;
-- The few records outside their period of validity, which the totals of lists exclude.
create index assets_not_yet on assets (org_id, valid_from) include (is_active, deleted_at) where valid_from > created_at;
create index assets_expiring on assets (org_id, valid_to) include (is_active, deleted_at) where valid_to is not null;
-- The search indexes start with the text: PostgreSQL evaluates the columns of a GIN index in order, and so reads the long list
-- of an organization's records only where the text matches. With org_id first it read that list completely.
create index assets_by_text on assets using gin (search_text gin_trgm_ops, org_id) where deleted_at is null;

-- The tree of locations. Deleted locations keep their row, like assets.
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
-- As for assets.
create index locations_by_name on locations (org_id, name, id) where deleted_at is null;
create index locations_by_creation on locations (org_id, created_at, id) where deleted_at is null;
create index locations_by_update on locations (org_id, updated_at, id) where deleted_at is null;
-- Children in the order of their keys, so that lists ordered by path walk the tree in order.
create index locations_in_order on locations (org_id, parent_id, external_key) where deleted_at is null;
create index locations_deleted on locations (org_id, external_key, id) where deleted_at is not null;
create index locations_inactive on locations (org_id, external_key) where deleted_at is null and not is_active;
create index locations_not_yet on locations (org_id, valid_from) include (is_active, deleted_at) where valid_from > created_at;
create index locations_expiring on locations (org_id, valid_to) include (is_active, deleted_at) where valid_to is not null;
create index locations_by_text on locations using gin (search_text gin_trgm_ops, org_id) where deleted_at is null;

-- Tags that are attached to an asset or a location. A detached tag is deleted, and its value is free again.
-- Reads are compared with `normalized_value`.
create table tags (
  org_id bigint not null,
  id bigint not null,
  asset_id bigint,
  location_id bigint,
  tag_type text not null,
  value text not null,
  normalized_value text collate "C" not null,
  created_at timestamptz not null,
  constraint tags_pk primary key (org_id, id),
  constraint tags_live_value unique (org_id, tag_type, normalized_value),
  constraint tags_asset foreign key (org_id, asset_id) references assets (org_id, id),
  constraint tags_location foreign key (org_id, location_id) references locations (org_id, id),
  constraint tags_owner check ((asset_id is null) <> (location_id is null))
);
create index tags_by_asset on tags (org_id, asset_id) where asset_id is not null;
create index tags_by_location on tags (org_id, location_id) where location_id is not null;

-- Readers --------------------------------------------------------------------------------------------------------------

-- Readers with the hash of their token, their settings and their activity.
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

-- The location of each antenna of a reader.
create table scan_points (
  org_id bigint not null,
  reader_id bigint not null,
  antenna integer not null,
  location_id bigint,
  constraint scan_points_pk primary key (org_id, reader_id, antenna),
  constraint scan_points_reader foreign key (org_id, reader_id) references readers (org_id, id),
  constraint scan_points_location foreign key (org_id, location_id) references locations (org_id, id)
);

-- Maps a reader's token or MQTT topic to the reader and its organization. A copy of this table is on every node. After a
-- rotation, the previous token works until `previous_token_until`.
create table reader_directory (
  token_hash bytea not null,
  topic_key text collate "C" not null,
  org_id bigint not null,
  reader_id bigint not null,
  previous_token_hash bytea,
  previous_token_until timestamptz,
  constraint reader_directory_pk primary key (token_hash),
  constraint reader_directory_topic unique (topic_key)
);
create unique index reader_directory_previous on reader_directory (previous_token_hash);

-- Tags that were read but are not attached to a record. Limited per organization.
create table unknown_tags (
  org_id bigint not null,
  tag_type text not null,
  normalized_value text collate "C" not null,
  value text not null,
  reader_id bigint,
  antenna integer,
  reads bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  constraint unknown_tags_pk primary key (org_id, tag_type, normalized_value),
  constraint unknown_tags_org foreign key (org_id) references organizations (org_id)
);
-- Above the limit, the tags that were not read for longest are deleted.
create index unknown_tags_recent on unknown_tags (org_id, last_seen_at);

-- Antennas without a scan point that reported reads. Limited per reader.
create table unknown_antennas (
  org_id bigint not null,
  reader_id bigint not null,
  antenna integer not null,
  reads bigint not null,
  last_seen_at timestamptz not null,
  constraint unknown_antennas_pk primary key (org_id, reader_id, antenna),
  constraint unknown_antennas_org foreign key (org_id) references organizations (org_id)
);

-- Topics of an external MQTT broker without a reader. They belong to the operator of the installation.
create table unknown_topics (
  topic text collate "C" not null,
  messages bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  constraint unknown_topics_pk primary key (topic)
);
-- Above the limit, the topics without messages for longest are deleted.
create index unknown_topics_recent on unknown_topics (last_seen_at, topic);

-- Tracking -------------------------------------------------------------------------------------------------------------

-- History: at most one row per asset and minute. The first reader that sets a minute keeps it; an operator overrides it.
-- The service creates the monthly partitions ahead of time and drops expired ones.
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
-- The order of the report at a past instant.
create index asset_minutes_recent on asset_minutes (org_id, observed_at desc, asset_id);

-- The last known location of each scanned asset. The row also has the location before the latest change, so that the upsert
-- that changes it returns the move. `minutes` counts the rows of the asset's history from `history_from` on.
create table asset_positions (
  org_id bigint not null,
  asset_id bigint not null,
  location_id bigint,
  last_seen_at timestamptz not null,
  last_minute timestamptz,
  previous_location_id bigint,
  previous_minute timestamptz,
  minutes bigint not null default 0,
  history_from timestamptz,
  constraint asset_positions_pk primary key (org_id, asset_id),
  constraint asset_positions_asset foreign key (org_id, asset_id) references assets (org_id, id),
  constraint asset_positions_location foreign key (org_id, location_id) references locations (org_id, id)
);
-- The assets at a location.
create index asset_positions_location on asset_positions (org_id, location_id) where location_id is not null;
-- The order of the report and of the list of assets by last seen.
create index asset_positions_recent on asset_positions (org_id, last_seen_at desc, asset_id);

-- When each asset was seen for the first time, according to its history. The row is written once and changes only when an
-- earlier sighting arrives late or when history is deleted, so ingest does not pay for it.
create table first_sightings (
  org_id bigint not null,
  asset_id bigint not null,
  seen_at timestamptz not null,
  constraint first_sightings_pk primary key (org_id, asset_id)
);
create index first_sightings_by_time on first_sightings (org_id, seen_at, asset_id);

-- The number of live and of deleted assets that were seen for the first time on a day, for the totals of the report at a past
-- instant.
create table first_sighting_counts (
  org_id bigint not null,
  day timestamptz not null,
  live bigint not null,
  deleted bigint not null,
  constraint first_sighting_counts_pk primary key (org_id, day)
) with (fillfactor = 50);

-- The latest sightings of an asset by readers that smooth, shared by all processes. Unlogged: after a crash a change of
-- location is confirmed a little later.
create unlogged table recent_sightings (
  org_id bigint not null,
  asset_id bigint not null,
  seen text not null,
  constraint recent_sightings_pk primary key (org_id, asset_id),
  constraint recent_sightings_org foreign key (org_id) references organizations (org_id)
) with (fillfactor = 50);

-- One row per move, with the names at that moment. The primary key is the order in which moves are recorded: an index on
-- delivery_id alone would be written at a random position for every move. There is no foreign key to organizations, because
-- checking it took longer than writing the row.
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
  constraint moves_pk primary key (org_id, recorded_at, delivery_id)
);
-- The history of a location, in its order. An operator may move thousands of assets at the same instant.
create index moves_arrivals on moves (org_id, to_location_id, occurred_at desc, delivery_id);
create index moves_departures on moves (org_id, from_location_id, occurred_at desc, delivery_id)
  where from_location_id is not null;
-- The latest moves, dwell times and flows of a period, and exports.
create index moves_by_time on moves (org_id, occurred_at, delivery_id);
create index moves_by_asset on moves (org_id, asset_id, occurred_at);

-- The rows that the functions in repeatable/recording_functions.sql return.
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

-- The number of moves to and from each location per hour, written with the moves, for the totals of a location's history.
create table location_move_counts (
  org_id bigint not null,
  location_id bigint not null,
  hour timestamptz not null,
  arrivals bigint not null,
  departures bigint not null,
  constraint location_move_counts_pk primary key (org_id, location_id, hour)
) with (fillfactor = 50);

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

-- Webhooks -------------------------------------------------------------------------------------------------------------

-- One webhook per organization. `generation` changes each time the webhook is switched on, and is null while nothing is
-- delivered: the webhook is switched off, or the organization has lapsed.
create table webhooks (
  org_id bigint not null,
  id bigint not null,
  url text not null,
  encrypted_secret bytea not null,
  is_enabled boolean not null,
  generation bigint,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint webhooks_pk primary key (org_id, id),
  constraint webhooks_one_per_organization unique (org_id),
  constraint webhooks_org foreign key (org_id) references organizations (org_id)
);

-- The organizations with deliveries switched on, which the workers sweep. A copy of this table is on every node.
create table webhook_directory (
  org_id bigint not null,
  constraint webhook_directory_pk primary key (org_id)
);

-- Moves that wait for delivery, written with the move and deleted when it is delivered or dropped. The primary key is the
-- order of delivery.
create table webhook_outbox (
  org_id bigint not null,
  generation bigint not null,
  recorded_at timestamptz not null,
  delivery_id uuid not null,
  constraint webhook_outbox_pk primary key (org_id, generation, recorded_at, delivery_id)
);

-- Delivery attempts of the last days, for the organization's admins. Without a foreign key, like moves.
create table webhook_attempts (
  org_id bigint not null,
  attempted_at timestamptz not null,
  delivery_id uuid not null,
  attempt integer not null,
  webhook_id bigint not null,
  event text not null,
  status integer,
  error text,
  duration_ms integer not null,
  constraint webhook_attempts_pk primary key (org_id, attempted_at, delivery_id, attempt)
);

-- Imports --------------------------------------------------------------------------------------------------------------

-- An import is staged row by row, checked, then run, and kept for a day. An organization runs one import at a time; `job` is
-- the job of a waiting import. `bytes` is the size of its rows.
--
-- A bulk job of the public API is an import whose rows arrive in one request. `mode` says whether rows may create, update, or
-- both; `on_error` whether an invalid row aborts the job or is skipped. `failed` is the number of invalid rows. A request
-- with an idempotency key returns the job of the earlier request with that key and the same digest. A trimmed job has lost its
-- errors: it is kept only for its key, and quotas do not count it.
create table imports (
  org_id bigint not null,
  id bigint not null,
  kind text not null,
  state text not null,
  job text,
  is_bulk boolean not null default false,
  mode text not null default 'upsert',
  is_dry_run boolean not null default false,
  on_error text not null default 'abort',
  idempotency_key text,
  request_digest text,
  is_trimmed boolean not null default false,
  rows bigint not null,
  bytes bigint not null default 0,
  creates bigint not null,
  updates bigint not null,
  unchanged bigint not null,
  failed bigint not null default 0,
  errors_total bigint not null,
  errors json not null,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  constraint imports_pk primary key (org_id, id),
  constraint imports_kind check (kind in ('assets', 'locations')),
  constraint imports_state check (state in ('open', 'waiting', 'checking', 'checked', 'running', 'done', 'failed')),
  constraint imports_job check (job in ('check', 'run', 'run_skipping_errors')),
  constraint imports_mode check (mode in ('create', 'update', 'upsert')),
  constraint imports_on_error check (on_error in ('abort', 'skip')),
  constraint imports_org foreign key (org_id) references organizations (org_id)
);
-- For the list of an organization's jobs and for retention.
create index imports_by_age on imports (org_id, created_at);
create index imports_by_idempotency_key on imports (org_id, idempotency_key, created_at) where idempotency_key is not null;

-- The staged rows of an import. They are read in batches of limited size, by `bytes`.
create table import_rows (
  org_id bigint not null,
  import_id bigint not null,
  line bigint not null,
  content json not null,
  bytes integer not null,
  constraint import_rows_pk primary key (org_id, import_id, line),
  constraint import_rows_import foreign key (org_id, import_id) references imports (org_id, id)
);

-- Tenant isolation and privileges ---------------------------------------------------------------------------------------

-- The writer role sees and writes the one organization that its transaction names. The reader role cannot write; its
-- statements name the organization themselves, which a test checks for every statement.
do $$
declare tenant_table text;
begin
  foreach tenant_table in array array[
    'organizations', 'credentials', 'refresh_token_families', 'invitations', 'saved_views', 'record_counts', 'key_counters',
    'assets', 'locations', 'tags', 'readers', 'scan_points', 'unknown_tags', 'unknown_antennas', 'asset_minutes', 'asset_positions',
    'first_sightings', 'first_sighting_counts', 'recent_sightings', 'moves', 'location_move_counts', 'sighting_notes',
    'webhooks', 'webhook_outbox', 'webhook_attempts', 'imports', 'import_rows'
  ] loop
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

grant select, insert, update on installation to lastseen_writer;
grant select, insert on id_blocks to lastseen_writer;
grant select, insert, update, delete on signing_keys, organization_names, users, memberships, password_resets, client_ids,
  rate_buckets, sign_in_failures, reader_directory, unknown_topics, webhook_directory to lastseen_writer;
grant select on id_blocks, organization_names, users, memberships, client_ids, reader_directory, unknown_topics,
  webhook_directory to lastseen_reader;

-- Lets both roles limit the temporary files of their sessions. A superuser and the login of the embedded database may grant
-- this; for any other owner, docs/operating/postgresql.md names the statement that an administrator runs once. The grant
-- belongs to the whole server, so a migration of another database may grant it concurrently.
do $$ begin
  if has_parameter_privilege('temp_file_limit', 'set with grant option') then
    grant set on parameter temp_file_limit to lastseen_writer, lastseen_reader;
  end if;
exception when internal_error or unique_violation then null;
end $$;

-- By default, PostgreSQL makes a generic plan for an average organization. Among many small organizations, statements of a
-- large one then scanned all of its tags for every message, and all of its assets for a page of the report. With
-- n_distinct = 1 PostgreSQL plans for the largest organization, which is as good for small ones. Citus plans each statement
-- for its organization and does not need the setting.
do $$
declare tenant_table text;
begin
  if exists (select from pg_extension where extname = 'citus') then return; end if;
  foreach tenant_table in array array[
    'assets', 'locations', 'tags', 'asset_positions', 'first_sightings', 'recent_sightings', 'readers', 'scan_points',
    'unknown_tags', 'unknown_antennas', 'moves', 'webhook_attempts', 'imports', 'import_rows'
  ] loop
    execute format('alter table %I alter column org_id set (n_distinct = 1)', tenant_table);
  end loop;
end $$;
