-- Moves in time, of all assets and of one: for the list of moves, moves per hour, dwell and flow.
create index moves_by_time on moves (org_id, occurred_at, delivery_id);
create index moves_by_asset on moves (org_id, asset_id, occurred_at);
