-- An estimate of the bytes that an organization stores, for its quota. An hourly job writes it.
alter table organizations add column stored_bytes bigint not null default 0;

-- After a rotation, the previous token of a reader works until this instant. A process of an earlier version ignores both
-- columns: it rejects the previous token at once.
alter table reader_directory add column previous_token_hash bytea, add column previous_token_until timestamptz;
create unique index reader_directory_previous on reader_directory (previous_token_hash);
