-- The tasks of the fleet. A plain `insert into step_tracker (machine, payload) values (…)` enqueues.
-- What a row may look like is said by the constraints, so that no program and no person at a SQL
-- prompt can make a task that is nobody's and nowhere. Payloads, results and errors are text: they
-- are read by those who wrote them, and text is a quarter faster to write than jsonb.
create table step_tracker (
  task_id        text collate "C" primary key default gen_random_uuid()::text,
  generation     integer not null default 1,
  machine        text not null,
  version        integer not null default 1,
  route          text collate "C" not null generated always as (machine || '@' || version::text) stored,
  queue          text not null default 'default',
  priority       integer not null default 0,
  run_at         timestamptz not null default now(),
  status         text not null default 'pending',
  wait_for       text,
  waiting_on     text,
  wake_seq       bigint not null default 0,
  claim_epoch    bigint not null default 0,
  claimed_by     text collate "C",
  claim_token    text,
  claimed_at     timestamptz,
  retry_count    integer not null default 0,
  retries_max    integer,
  crashes        integer not null default 0,
  interrupted    text,
  claims         integer not null default 0,
  control        text,
  control_reason text,
  paused         boolean not null default false,
  key            text,
  key_until      timestamptz,
  key_ms         bigint not null default 604800000,
  key_generation integer not null default 1,
  carry_from     integer,
  serial_key     text,
  serial_held    boolean not null default false,
  pinned_to      text,
  parent_id      text collate "C",
  deadline_at    timestamptz,
  payload        text,
  outcome        text,
  result         text,
  error          text,
  last_seq       integer not null default -1,
  last_hash      text,
  trace_parent   text,
  created_at     timestamptz not null default now(),
  last_update    timestamptz not null default now(),
  finished_at    timestamptz,
  discarded_at   timestamptz,
  constraint status_is_known
    check (status in ('pending', 'waiting', 'claimed', 'completed', 'failed', 'cancelled')),
  constraint wait_for_is_known
    check (wait_for in ('time', 'retry', 'sleep', 'signal', 'children', 'run', 'throttle', 'turn', 'host',
                        'version')),
  constraint interrupted_is_known check (interrupted in ('cut', 'left')),
  constraint control_is_known check (control in ('cancel', 'pause')),
  constraint claimed_iff_held check ((status = 'claimed') = (claimed_by is not null)),
  constraint claimed_has_epoch check (status <> 'claimed' or claim_epoch > 0),
  constraint waiting_iff_reasoned check ((status = 'waiting') = (wait_for is not null)),
  constraint ended_iff_finished
    check ((status in ('completed', 'failed', 'cancelled')) = (finished_at is not null)),
  constraint failed_has_error check (status <> 'failed' or error is not null),
  constraint serial_pending_has_turn
    check (serial_key is null or status <> 'pending' or serial_held),
  constraint turn_ends_with_run
    check (not serial_held or status in ('pending', 'waiting', 'claimed'))
) with (
  -- Rows change three times in their life and are then left alone; dead versions are taken away
  -- early, or the heads of the queue would be found behind them.
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
