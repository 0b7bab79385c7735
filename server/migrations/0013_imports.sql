-- What somebody wants to bring in: staged row by row, checked, then run. Kept for a day.
create table imports (
  org_id bigint not null,
  id bigint not null,
  kind text not null,
  state text not null,
  rows bigint not null,
  creates bigint not null,
  updates bigint not null,
  unchanged bigint not null,
  errors_total bigint not null,
  errors json not null,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  constraint imports_pk primary key (org_id, id),
  constraint imports_kind check (kind in ('assets', 'locations')),
  constraint imports_state check (state in ('open', 'checking', 'checked', 'running', 'done', 'failed')),
  constraint imports_org foreign key (org_id) references organizations (org_id)
);
create index imports_by_age on imports (org_id, created_at);

create table import_rows (
  org_id bigint not null,
  import_id bigint not null,
  line bigint not null,
  content json not null,
  constraint import_rows_pk primary key (org_id, import_id, line),
  constraint import_rows_import foreign key (org_id, import_id) references imports (org_id, id)
);

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array['imports', 'import_rows'] loop
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
