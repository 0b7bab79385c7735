-- The directory: small, rarely written tables that resolve something unique across organizations to an organization.
create table organization_names (
  org_id bigint not null,
  name text collate "C" not null,
  constraint organization_names_pk primary key (org_id)
);
create index organization_names_name on organization_names (name);

create table users (
  user_id bigint not null,
  email text collate "C" not null,
  password_hash text not null,
  created_at timestamptz not null,
  constraint users_pk primary key (user_id),
  constraint users_email unique (email)
);

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

create table client_ids (
  client_id uuid not null,
  org_id bigint not null,
  constraint client_ids_pk primary key (client_id)
);

-- Every tenant table hangs on this row; batch statements start from it.
create table organizations (
  org_id bigint not null,
  created_at timestamptz not null,
  lapsed_at timestamptz,
  constraint organizations_pk primary key (org_id)
);

grant select, insert, update, delete on organization_names, users, memberships, client_ids to lastseen_writer;
grant select on organization_names, users, memberships, client_ids to lastseen_reader;
