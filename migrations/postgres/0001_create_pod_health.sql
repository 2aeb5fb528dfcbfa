-- Who is there: one row for each life of a process, never used again. `dead` is the fence, set under
-- the row's lock, and comes first; `down` means that nothing is left of it, and comes last.
-- No column that a heartbeat changes may stand in a unique index: its update would then be one of
-- the row's key, and would wait for every claim and settle that holds the row FOR KEY SHARE.
create table pod_health (
  pod_id          text collate "C" primary key,
  name            text not null,
  journal_id      text not null,
  boot            integer not null default 1,
  birth_timestamp timestamptz not null default clock_timestamp(),
  last_heartbeat  timestamptz not null default clock_timestamp(),
  beat_seq        bigint not null default 0,
  beat_nonce      text not null default '',
  status          text not null default 'up',
  desired         text,
  routes          text[] not null default '{}',
  journal_lsn     bigint not null default 0,
  report          text not null default '{}',
  dead_at         timestamptz,
  dead_by         text,
  constraint status_is_known check (status in ('up', 'draining', 'dead', 'down')),
  constraint desired_is_known check (desired in ('drain', 'pause')),
  constraint dead_iff_fenced check ((status in ('dead', 'down')) = (dead_at is not null))
) with (
  -- Every heartbeat is an update; half of a page stays free, so that it need not touch an index.
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 50,
  autovacuum_vacuum_cost_delay = 0
);

create index pod_health_fleet on pod_health (birth_timestamp, pod_id) where status <> 'down';
create index pod_health_of_journal on pod_health (journal_id);
