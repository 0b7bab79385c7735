-- Why a session was ended: signed_out, password_changed or revoked. The app tells it to the user at the next sign-in.
alter table refresh_token_families add column end_reason text;
