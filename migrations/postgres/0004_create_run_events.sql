-- What happened in each run, in segments of consecutive records of one epoch. The epoch is part of
-- the key: what a former owner writes late lies beside the history of its successor, never in it.
create table run_events (
  task_id    text collate "C" not null,
  generation integer not null,
  epoch      bigint not null,
  first_seq  integer not null,
  last_seq   integer not null,
  prev_hash  text not null,
  last_hash  text not null,
  state      text not null,
  events     text not null,
  at         timestamptz not null default clock_timestamp(),
  primary key (task_id, generation, epoch, first_seq),
  constraint seqs_ascend check (last_seq >= first_seq)
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);
