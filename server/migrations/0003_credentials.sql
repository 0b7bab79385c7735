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

-- One row per chain of refresh tokens: locked first, so two uses of one token cannot both win.
create table refresh_chains (
  org_id bigint not null,
  chain_id uuid not null,
  environment text not null,
  client_id uuid,
  user_id bigint,
  token_hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  constraint refresh_chains_pk primary key (org_id, chain_id),
  constraint refresh_chains_org foreign key (org_id) references organizations (org_id),
  constraint refresh_chains_holder check ((client_id is null) <> (user_id is null))
);
create index refresh_chains_client on refresh_chains (org_id, client_id) where client_id is not null;
create index refresh_chains_user on refresh_chains (org_id, user_id) where user_id is not null;
create index refresh_chains_expiry on refresh_chains (org_id, expires_at);

-- Both may be lost in a crash without harm, so they are not logged.
create unlogged table rate_buckets (
  client_id uuid not null,
  millitokens bigint not null,
  filled_at_ms bigint not null,
  admitted boolean not null,
  revoked boolean not null,
  constraint rate_buckets_pk primary key (client_id)
) with (fillfactor = 50);

create unlogged table sign_in_failures (
  subject text collate "C" not null,
  since timestamptz not null,
  failures integer not null,
  pending integer not null,
  admitted boolean not null,
  constraint sign_in_failures_pk primary key (subject)
) with (fillfactor = 50);

grant select, insert, update, delete on rate_buckets, sign_in_failures to lastseen_writer;
