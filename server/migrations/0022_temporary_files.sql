-- Allows the roles of the service to bound the temporary files of their sessions. Only a superuser may grant this; for
-- any other owner, docs/operating.md names the statement that an administrator runs once.
do $$ begin
  if (select rolsuper from pg_roles where rolname = current_user) then
    grant set on parameter temp_file_limit to lastseen_writer, lastseen_reader;
  end if;
-- The grant belongs to the whole server, so the migration of another database may be making it at this very moment.
exception when internal_error or unique_violation then null;
end $$;
