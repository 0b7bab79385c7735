-- The rows that the functions in repeatable/recording_functions.sql return. A database that was made with
-- 0002_recording_functions.sql, which contained these functions before they were repeatable, has the type already.
do $$ begin
  if to_regtype('recorded_move') is not null then return; end if;
  create type recorded_move as (
    delivery_id uuid,
    asset_id bigint,
    asset_external_key text,
    asset_name text,
    from_location_id bigint,
    from_location_name text,
    to_location_id bigint,
    to_location_name text,
    occurred_at timestamptz,
    recorded_at timestamptz
  );
end $$;
