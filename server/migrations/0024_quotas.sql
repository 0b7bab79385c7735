-- How much of each thing the organization may have, where the operator gave it a quota of its own: {"assets": 5000}.
alter table organizations add column quotas json;
