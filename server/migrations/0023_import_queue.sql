-- An organization has one import at work at a time; further ones wait, and the job says for what. The size of each row and
-- of all rows of an import is kept, so that rows are read in pieces of bounded size. Rows that were staged before count as
-- 64 KiB each.
alter table import_rows add column bytes integer not null default 65536;
alter table import_rows alter column bytes drop default;
alter table imports add column bytes bigint not null default 0;
alter table imports add column job text;
alter table imports drop constraint imports_state;
alter table imports add constraint imports_state
  check (state in ('open', 'waiting', 'checking', 'checked', 'running', 'done', 'failed'));
alter table imports add constraint imports_job check (job in ('check', 'run', 'run_skipping_errors'));
