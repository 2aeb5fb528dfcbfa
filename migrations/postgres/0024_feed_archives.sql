-- What a sink sends on: `written` says when a segment was put in or made longer, as last_update does for
-- tasks; rows from before have none, and are sent by the first round, which sends everything. Retention
-- waits for every sink that has a row here. Old pods may keep running; what they add to a segment that is
-- there already a sink does not see, so the first one is started when all pods are new.
alter table run_events add column written timestamptz;
alter table run_events alter column written set default clock_timestamp();

create table archive_sink (
  name       text collate "C" primary key,
  target     text not null,
  holder     text,
  held_until timestamptz,
  sent_until timestamptz,
  sent_at    timestamptz,
  constraint held_iff_until check ((holder is null) = (held_until is null))
);
