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

alter table saved_views enable row level security;
alter table saved_views force row level security;
create policy one_organization on saved_views to lastseen_writer
  using (org_id = nullif(current_setting('app.org_id', true), '')::bigint)
  with check (org_id = nullif(current_setting('app.org_id', true), '')::bigint);
create policy checked_reads on saved_views for select to lastseen_reader using (true);
grant select, insert, update, delete on saved_views to lastseen_writer;
grant select on saved_views to lastseen_reader;
