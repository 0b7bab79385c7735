-- A plan that serves every organization is made for an average one. Among many small ones, a large one had all of its tags
-- read for every message of a reader, and all of its assets for a page of the report. Told that a table holds a single
-- organization, PostgreSQL makes the plan for the largest, which is as good for a small one. It takes notice with the next
-- statistics; an empty table is better off without. Citus plans every statement for its organization, and knows no such
-- setting.
do $$
declare tenant_table text;
begin
  if exists (select from pg_extension where extname = 'citus') then return; end if;
  foreach tenant_table in array array[
    'assets', 'locations', 'tags', 'asset_positions', 'asset_glimpses', 'readers', 'scan_points', 'unknown_tags',
    'unknown_antennas', 'moves', 'webhook_attempts', 'imports', 'import_rows'
  ] loop
    execute format('alter table %I alter column org_id set (n_distinct = 1)', tenant_table);
    if exists (select from pg_class where oid = tenant_table::regclass and reltuples > 0) then
      execute format('analyze %I', tenant_table);
    end if;
  end loop;
end $$;
