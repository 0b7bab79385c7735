-- The search indexes start with the text: PostgreSQL evaluates the columns of a GIN index in order, and so reads the long
-- list of an organization's records only where the text matches. With org_id first it read that list completely.
set local maintenance_work_mem = '256MB';
create index assets_by_text on assets using gin (search_text gin_trgm_ops, org_id) where deleted_at is null;
drop index assets_search;
create index locations_by_text on locations using gin (search_text gin_trgm_ops, org_id) where deleted_at is null;
drop index locations_search;
