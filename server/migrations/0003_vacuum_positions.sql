-- Totals of assets at locations are counted in the index of positions by location alone. PostgreSQL reads the row as well
-- for every page that changed since the last vacuum, and each sighting changes a position. By default a vacuum waits until a
-- fifth of the rows has changed.
alter table asset_positions set (autovacuum_vacuum_scale_factor = 0.02);
