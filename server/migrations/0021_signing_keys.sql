-- Access tokens are signed with keys of their own, so that these can be rotated. The secret key of the installation stays:
-- it encrypts the secrets of webhooks. Keys are encrypted themselves where the operator has set a master key.
alter table installation rename column signing_key to secret_key;
alter table installation add column is_encrypted boolean not null default false;

create table signing_keys (
  kid text not null,
  key bytea not null,
  is_encrypted boolean not null,
  -- One key signs. The one before it verifies tokens until they expire, and a new one until all processes know it.
  is_current boolean not null,
  created_at timestamptz not null default now(),
  constraint signing_keys_pk primary key (kid)
);
create unique index signing_keys_current on signing_keys (is_current) where is_current;

grant select, insert, update, delete on signing_keys to lastseen_writer;
