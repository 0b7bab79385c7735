-- Bulk jobs of the public API are imports whose rows arrive in one request. `mode` says whether rows may create, update, or
-- both; `on_error` whether an invalid row aborts the job or is skipped. `failed` is the number of invalid rows. A request
-- with an idempotency key returns the job of the earlier request with that key and the same digest. A trimmed job has lost its
-- errors: it is kept only for its key, and quotas do not count it.
alter table imports add column is_bulk boolean not null default false;
alter table imports add column mode text not null default 'upsert';
alter table imports add column is_dry_run boolean not null default false;
alter table imports add column on_error text not null default 'abort';
alter table imports add column failed bigint not null default 0;
alter table imports add column idempotency_key text;
alter table imports add column request_digest text;
alter table imports add column is_trimmed boolean not null default false;
alter table imports add constraint imports_mode check (mode in ('create', 'update', 'upsert'));
alter table imports add constraint imports_on_error check (on_error in ('abort', 'skip'));
create index imports_by_idempotency_key on imports (org_id, idempotency_key, created_at) where idempotency_key is not null;
