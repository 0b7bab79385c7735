-- Allows the roles of the service to bound the temporary files of their sessions. A superuser may grant
-- this, and the login of the embedded database; for any other owner, docs/operating.md names the statement that an
-- administrator runs once.
do $$ begin
  if has_parameter_privilege('temp_file_limit', 'set with grant option') then
    grant set on parameter temp_file_limit to lastseen_writer, lastseen_reader;
  end if;
-- The grant belongs to the whole server, so the migration of another database may be making it at this very moment.
exception when internal_error or unique_violation then null;
end $$;
