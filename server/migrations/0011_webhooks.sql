-- One webhook per organization. `period` names the present uninterrupted time of delivery: every switching on begins
-- another, and it is null while nothing is delivered (switched off, or the organization has lapsed).
create table webhooks (
  org_id bigint not null,
  id bigint not null,
  url text not null,
  sealed_secret bytea not null,
  is_enabled boolean not null,
  period bigint,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint webhooks_pk primary key (org_id, id),
  constraint webhooks_one_per_organization unique (org_id),
  constraint webhooks_org foreign key (org_id) references organizations (org_id)
);

-- What was sent in the last days, for the organization's admins.
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
  constraint webhook_attempts_pk primary key (org_id, attempted_at, delivery_id, attempt),
  constraint webhook_attempts_org foreign key (org_id) references organizations (org_id)
);

-- The directory of organizations that are delivered to: where a process looks for something to deliver.
create table webhook_directory (
  org_id bigint not null,
  constraint webhook_directory_pk primary key (org_id)
);

-- The period a move was recorded in; null when there was nobody to tell, or when it was dropped. Only what is still to
-- be delivered stands in the index, so organizations without a webhook cost nothing.
alter table moves add column period bigint;
drop index moves_unclaimed;
create index moves_due on moves (org_id, period, recorded_at) where claimed_at is null and period is not null;

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array['webhooks', 'webhook_attempts'] loop
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

grant select, insert, update, delete on webhook_directory to lastseen_writer;
grant select on webhook_directory to lastseen_reader;
