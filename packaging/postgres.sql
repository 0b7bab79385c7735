-- Creates the roles and the database of Lastseen on a new PostgreSQL server (docs/operating/postgresql.md). psql runs it as the
-- superuser; the environment variable DATABASE_PASSWORD is the password of the service.
\getenv password DATABASE_PASSWORD
create role lastseen login password :'password';
create role lastseen_writer nologin;
create role lastseen_reader nologin;
grant lastseen_writer, lastseen_reader to lastseen;
grant set on parameter temp_file_limit to lastseen_writer, lastseen_reader;
create database lastseen owner lastseen;
