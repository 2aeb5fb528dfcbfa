-- What a sink sends on: `written` says when a segment was put in or made longer, as last_update does for
-- tasks; rows from before have none, and are sent by the first round, which sends everything. Retention
-- waits for every sink that has a row here. Old processes may keep running; what they write of histories
-- a sink does not see, so the first one is started when all of them are new.
alter table run_events add column written integer;

create table archive_sink (
  name       text primary key not null,
  target     text not null,
  holder     text,
  held_until integer,
  sent_until integer,
  sent_at    integer,
  constraint held_iff_until check ((holder is null) = (held_until is null))
) strict;
