-- What the fleet has found out about each API that it calls, and how that is divided among pods: one row for
-- each. Whoever leads writes it, with the epoch it has seen, so that of two leaders one loses; every heartbeat
-- reads it. It outlives pods and leaders. `pinned` is the word of a person. Old pods may keep running: they
-- neither read nor write it, and what they call is not counted.
create table throttle_state (
  api          text collate "C" primary key,
  epoch        bigint not null default 0,
  state        text,
  made_at      timestamptz not null default clock_timestamp(),
  pinned       double precision,
  pinned_by    text,
  pinned_until timestamptz,
  constraint epoch_counts check (epoch >= 0),
  constraint pinned_above_nothing check (pinned > 0),
  constraint pinned_by_somebody check ((pinned is null) = (pinned_by is null))
) with (
  -- Written with every heartbeat of the leader: half of a page stays free, so that it touches no index.
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 50,
  autovacuum_vacuum_cost_delay = 0
);
