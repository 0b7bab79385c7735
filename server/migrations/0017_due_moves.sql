-- What is still to be delivered: put here with the move, and taken away by whoever delivers or drops it. A move itself is
-- never written again. The key is the order in which moves are claimed.
create table due_moves (
  org_id bigint not null,
  period bigint not null,
  recorded_at timestamptz not null,
  delivery_id uuid not null,
  constraint due_moves_pk primary key (org_id, period, recorded_at, delivery_id)
);

-- The owner sees no row of a table that forces the organization's fence.
alter table moves no force row level security;
insert into due_moves (org_id, period, recorded_at, delivery_id)
select org_id, period, recorded_at, delivery_id from moves where claimed_at is null and period is not null;
alter table moves force row level security;

drop index moves_due;
alter table moves drop column claimed_at;
alter table moves drop column period;

-- Checking the key took longer than writing the row. Both are written from rows of the organization, and organizations
-- are never deleted.
alter table moves drop constraint moves_org;
alter table webhook_attempts drop constraint webhook_attempts_org;

alter table due_moves enable row level security;
alter table due_moves force row level security;
create policy one_organization on due_moves to lastseen_writer
  using (org_id = nullif(current_setting('app.org_id', true), '')::bigint)
  with check (org_id = nullif(current_setting('app.org_id', true), '')::bigint);
create policy checked_reads on due_moves for select to lastseen_reader using (true);
grant select, insert, update, delete on due_moves to lastseen_writer;
grant select on due_moves to lastseen_reader;
