-- What every process of one installation shares, and where ids come from.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create table installation (
  only_row boolean not null,
  id_key bytea not null,
  signing_key bytea not null,
  next_block bigint not null,
  constraint installation_pk primary key (only_row),
  constraint installation_one check (only_row)
);

-- A block of ids belongs to one organization, so an id leads to its organization without asking every shard.
create table id_blocks (
  block bigint not null,
  org_id bigint not null,
  constraint id_blocks_pk primary key (block)
);

grant select, insert, update on installation to lastseen_writer;
grant select, insert on id_blocks to lastseen_writer;
grant select on id_blocks to lastseen_reader;
