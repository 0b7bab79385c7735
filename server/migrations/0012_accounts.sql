-- Links that let somebody in: each works once and for a while, and only the hash of its token is kept.
create table password_resets (
  token_hash bytea not null,
  user_id bigint not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint password_resets_pk primary key (token_hash),
  constraint password_resets_user foreign key (user_id) references users (user_id)
);
create index password_resets_by_user on password_resets (user_id, created_at);
grant select, insert, update, delete on password_resets to lastseen_writer;

-- One open invitation per organization and address; it is gone once it is accepted or withdrawn.
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
alter table invitations enable row level security;
alter table invitations force row level security;
create policy one_organization on invitations to lastseen_writer
  using (org_id = nullif(current_setting('app.org_id', true), '')::bigint)
  with check (org_id = nullif(current_setting('app.org_id', true), '')::bigint);
create policy checked_reads on invitations for select to lastseen_reader using (true);
grant select, insert, update, delete on invitations to lastseen_writer;
grant select on invitations to lastseen_reader;
