-- Live tags only: a detached tag is gone and its value free again.
create table tags (
  org_id bigint not null,
  id bigint not null,
  asset_id bigint,
  location_id bigint,
  tag_type text not null,
  value text not null,
  match_value text collate "C" not null,
  created_at timestamptz not null,
  constraint tags_pk primary key (org_id, id),
  constraint tags_live_value unique (org_id, tag_type, match_value),
  constraint tags_asset foreign key (org_id, asset_id) references assets (org_id, id),
  constraint tags_location foreign key (org_id, location_id) references locations (org_id, id),
  constraint tags_holder check ((asset_id is null) <> (location_id is null))
);
create index tags_by_asset on tags (org_id, asset_id) where asset_id is not null;
create index tags_by_location on tags (org_id, location_id) where location_id is not null;
