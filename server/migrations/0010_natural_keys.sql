-- What an asset is, for those who tell things, people and stock apart. Nearly all are plain assets; the index holds the rest.
alter table assets add column type text not null default 'asset';
alter table assets add constraint assets_type check (type in ('asset', 'person', 'inventory'));
create index assets_other_types on assets (org_id, type) where type <> 'asset' and deleted_at is null;

-- Children in the order of their keys, so that a tree can be walked in order from any place in it.
create index locations_in_order on locations (org_id, parent_id, external_key) where deleted_at is null;
drop index locations_by_parent;
