-- The fence between organizations. The writing role sees and writes one organization, the one its transaction names;
-- the reading role cannot write, and its statements name the organization themselves, which a check enforces.
do $$
declare tenant_table text;
begin
  foreach tenant_table in array array[
    'organizations', 'credentials', 'refresh_chains', 'record_counts', 'key_counters',
    'assets', 'locations', 'asset_positions', 'tags'
  ] loop
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
