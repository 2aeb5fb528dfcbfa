-- What the fleet has found out about each API that it calls, and how that is divided among pods: one row for
-- each. Whoever leads writes it, with the epoch it has seen, so that of two leaders one loses; every heartbeat
-- reads it. It outlives pods and leaders. `pinned` is the word of a person. Old processes may keep running:
-- they neither read nor write it, and what they call is not counted.
create table throttle_state (
  api          text primary key,
  epoch        integer not null default 0 check (epoch >= 0),
  state        text,
  made_at      integer not null,
  pinned       real check (pinned > 0),
  pinned_by    text,
  pinned_until integer,
  constraint pinned_by_somebody check ((pinned is null) = (pinned_by is null))
) strict;
