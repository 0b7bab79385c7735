-- Whoever looks for a move by its delivery knows when it was recorded. So the order in which moves are recorded is their
-- key, and the index by delivery, into which every move went at another place, is not needed.
alter table moves drop constraint moves_pk;
drop index moves_recent;
alter table moves add constraint moves_pk primary key (org_id, recorded_at, delivery_id);
